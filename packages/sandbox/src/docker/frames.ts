import { sandboxError } from '../errors.ts';
import type { OutputStream } from '../port.ts';

const HEADER_BYTES = 8;

/**
 * Takes apart the engine's attach stream: frames of one byte of stream number, three of zero, four of length, then
 * the payload. A frame may come in many chunks and a chunk may hold many frames (THREATS M09). Payload is passed on
 * as it comes, so that a frame's length costs no memory.
 */
export class FrameReader {
  readonly #onPayload: (stream: OutputStream, payload: Uint8Array) => void;
  readonly #header = Buffer.alloc(HEADER_BYTES);
  #headerBytes = 0;
  #payloadBytesLeft = 0;

  constructor(onPayload: (stream: OutputStream, payload: Uint8Array) => void) {
    this.#onPayload = onPayload;
  }

  /** False in the middle of a frame: a stream that ends there was cut off. */
  get isAtBoundary(): boolean {
    return this.#headerBytes === 0;
  }

  /** Throws SANDBOX_RUN_LOST for what is no frame. */
  push(chunk: Uint8Array): void {
    let rest = chunk;
    while (rest.length > 0) {
      rest = this.#headerBytes < HEADER_BYTES ? this.#takeHeader(rest) : this.#takePayload(rest);
    }
  }

  #takeHeader(chunk: Uint8Array): Uint8Array {
    const taken = chunk.subarray(0, HEADER_BYTES - this.#headerBytes);
    this.#header.set(taken, this.#headerBytes);
    this.#headerBytes += taken.length;
    if (this.#headerBytes === HEADER_BYTES) {
      this.#payloadBytesLeft = this.#header.readUInt32BE(4);
      this.#stream(); // A bad header is found before its payload.
      if (this.#payloadBytesLeft === 0) this.#headerBytes = 0;
    }
    return chunk.subarray(taken.length);
  }

  #takePayload(chunk: Uint8Array): Uint8Array {
    const taken = chunk.subarray(0, this.#payloadBytesLeft);
    this.#payloadBytesLeft -= taken.length;
    if (this.#payloadBytesLeft === 0) this.#headerBytes = 0;
    this.#onPayload(this.#stream(), taken);
    return chunk.subarray(taken.length);
  }

  #stream(): OutputStream {
    const [number, ...padding] = this.#header.subarray(0, 4);
    if (padding.every((byte) => byte === 0)) {
      if (number === 1) return 'stdout';
      if (number === 2) return 'stderr';
    }
    throw sandboxError('SANDBOX_RUN_LOST', {
      message: `expected an output frame from the engine, got header ${this.#header.toString('hex')}`,
    });
  }
}

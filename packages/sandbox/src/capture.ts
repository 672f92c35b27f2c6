import { createHash } from 'node:crypto';
import type { CapturedStream } from './port.ts';

/** How much of a stream an outcome keeps; the digest and the count are over all of it. */
export const HEAD_BYTES_MAX = 64 * 1_024;

/** Counts and hashes a stream that may be endless, and keeps its first bytes; memory stays flat. */
export class StreamCapture {
  readonly #hash = createHash('sha256');
  readonly #headBytesMax: number;
  readonly #head: Buffer[] = [];
  #headBytes = 0;
  #bytesTotal = 0;

  constructor(headBytesMax: number) {
    this.#headBytesMax = headBytesMax;
  }

  get bytesTotal(): number {
    return this.#bytesTotal;
  }

  push(chunk: Uint8Array): void {
    this.#hash.update(chunk);
    this.#bytesTotal += chunk.length;
    const room = this.#headBytesMax - this.#headBytes;
    if (room <= 0) return;
    // A copy: the chunk's memory belongs to its stream.
    const kept = Buffer.from(chunk.subarray(0, room));
    this.#head.push(kept);
    this.#headBytes += kept.length;
  }

  /** Ends the capture; call once. */
  finish(): CapturedStream {
    return {
      bytesTotal: this.#bytesTotal,
      sha256: this.#hash.digest('hex'),
      head: Buffer.concat(this.#head),
    };
  }
}

const NEWLINE = 0x0a;

/** A file's content, captured up to `bytesMax`, with its lines counted; a last line without a newline is a line. */
export class FileCapture {
  readonly #capture: StreamCapture;
  #newlines = 0;
  #lastByte = NEWLINE;

  constructor(bytesMax: number) {
    this.#capture = new StreamCapture(bytesMax);
  }

  push(chunk: Uint8Array): void {
    this.#capture.push(chunk);
    // Not by a search from newline to newline, which costs a hundred times more where there is nothing else.
    let newlines = 0;
    for (let at = 0; at < chunk.length; at += 1) if (chunk[at] === NEWLINE) newlines += 1;
    this.#newlines += newlines;
    this.#lastByte = chunk.at(-1) ?? this.#lastByte;
  }

  /** Ends the capture; call once. */
  finish(): CapturedStream & { readonly lineCount: number } {
    const unended = this.#lastByte === NEWLINE ? 0 : 1;
    return { ...this.#capture.finish(), lineCount: this.#newlines + unended };
  }
}

import { HEAD_BYTES_MAX, StreamCapture } from '../capture.ts';
import type { CapturedStream, OutputStream, RunRequest } from '../port.ts';
import { GateReader } from './gate.ts';

/** The output of one run as it comes: the gate's line, then the command's streams, counted against their limit. */
export class RunOutput {
  readonly #gate = new GateReader();
  readonly #captures: Readonly<Record<OutputStream, StreamCapture>> = {
    stdout: new StreamCapture(HEAD_BYTES_MAX),
    stderr: new StreamCapture(HEAD_BYTES_MAX),
  };
  readonly #onOutput: RunRequest['onOutput'];
  readonly #bytesMax: number;
  readonly #overflow = Promise.withResolvers<void>();
  #isOpen = false;
  #bytesTotal = 0;

  constructor(bytesMax: number, onOutput: RunRequest['onOutput']) {
    this.#bytesMax = bytesMax;
    this.#onOutput = onOutput;
  }

  /** Resolves with the file system type at the folder of the run, when the gate has spoken. */
  get gateOpened(): Promise<string> {
    return this.#gate.opened;
  }

  /** Resolves at the first byte beyond the limit of both streams together. */
  get overflowed(): Promise<void> {
    return this.#overflow.promise;
  }

  get isOverflowed(): boolean {
    return this.#bytesTotal > this.#bytesMax;
  }

  push(stream: OutputStream, chunk: Uint8Array): void {
    const output = this.#isOpen || stream === 'stderr' ? chunk : this.#throughGate(chunk);
    if (output.length === 0) return;
    this.#captures[stream].push(output);
    this.#bytesTotal += output.length;
    this.#onOutput?.(stream, output);
    if (this.isOverflowed) this.#overflow.resolve();
  }

  /** Call once, at the end. */
  finish(): Record<OutputStream, CapturedStream> {
    return { stdout: this.#captures.stdout.finish(), stderr: this.#captures.stderr.finish() };
  }

  #throughGate(chunk: Uint8Array): Uint8Array {
    const output = this.#gate.push(chunk);
    this.#isOpen = this.#gate.isOpen;
    return output;
  }
}

import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { VerificationEvent } from '@kervyxa/verifier';

type Output = Extract<VerificationEvent, { kind: 'output' }>;

/** Kept of one stream of one step; the contract's outputKB may allow eight times as much. */
export const LOG_BYTES_MAX = 8 * 1024 * 1024;

interface Log {
  readonly fd: number;
  bytesSeen: number;
}

/**
 * One file for each stream of each step, written as the output comes, so that a stopped run leaves what it had.
 * Opened with O_EXCL, which follows no link. The first failure stops all writing and is kept for `close` to throw.
 */
export class StepLogs {
  readonly #folder: string;
  readonly #logs = new Map<string, Log>();
  #failure: { readonly error: unknown } | null = null;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Never throws. */
  append(output: Output): void {
    if (this.#failure !== null) return;
    try {
      const log = this.#open(toLogPath(output));
      const room = Math.max(0, LOG_BYTES_MAX - log.bytesSeen);
      writeAll(log.fd, output.chunk.subarray(0, room));
      log.bytesSeen += output.chunk.length;
    } catch (error) {
      this.#failure = { error };
    }
  }

  /** Marks the logs that were cut and closes all of them. Throws what went wrong in any write. */
  close(): void {
    const logs = [...this.#logs.values()];
    this.#logs.clear();
    try {
      for (const { fd, bytesSeen } of logs) {
        const cut = bytesSeen - LOG_BYTES_MAX;
        if (cut > 0 && this.#failure === null)
          writeAll(fd, Buffer.from(`\n[kervyxa: ${cut} more bytes were not kept]\n`));
      }
    } finally {
      for (const { fd } of logs) closeSync(fd);
    }
    if (this.#failure !== null) throw this.#failure.error;
  }

  #open(path: string): Log {
    const known = this.#logs.get(path);
    if (known !== undefined) return known;
    const log = { fd: openSync(join(this.#folder, path), 'wx', 0o644), bytesSeen: 0 };
    this.#logs.set(path, log);
    return log;
  }
}

/** `criteria/tests-pass.stdout.log`; a second try has a file of its own. */
function toLogPath({ stepId, attempt, stream }: Output): string {
  const [, kind, name] = /^(setup|criterion):([a-z0-9-]{1,64})$/.exec(stepId) ?? [];
  if (kind === undefined || name === undefined)
    throw new TypeError(`expected the id of a set-up step or a criterion, got ${stepId}`);
  const folder = kind === 'setup' ? 'setup' : 'criteria';
  const again = attempt === 1 ? '' : `.attempt-${attempt}`;
  return `${folder}/${name}${again}.${stream}.log`;
}

function writeAll(fd: number, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length;) {
    written += writeSync(fd, bytes, written);
  }
}

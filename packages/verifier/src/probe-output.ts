import { createHash } from 'node:crypto';
import { packTree, type TreeArchive, type TreeEntry } from '@kervyxa/core';
import type { FileReading, StagedRun } from '@kervyxa/sandbox';
import { JUDGE_GUARDS, PROBE_OUTPUT_FOLDER } from './judge-guards.ts';

const MIB = 1024 * 1024;
/**
 * Of what the probe printed, and of each file that it leaves; docs/contracts.md names both. A worker holds as much for
 * each judge_probe that runs, and what a judge can be broken by grows with it.
 */
export const PROBE_FILE_BYTES_MAX = 8 * MIB;
export const PROBE_BYTES_MAX = 16 * MIB;
const STDOUT = 'stdout';

/** What a probe hands to its judge: by path, or the first output that can't be handed on. */
export type ProbeOutput =
  | { readonly kind: 'taken'; readonly files: ReadonlyMap<string, Uint8Array> }
  | { readonly kind: 'refused'; readonly path: string; readonly found: FileReading };

/** Keeps a stream whole, up to a bound of bytes; beyond it only counts. */
export class StreamKeeper {
  readonly #bytesMax: number;
  #pieces: Buffer[] = [];
  #bytesTotal = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  push(chunk: Uint8Array): void {
    this.#bytesTotal += chunk.length;
    if (this.#bytesTotal <= this.#bytesMax) this.#pieces.push(Buffer.from(chunk));
    else this.#pieces = [];
  }

  /** Null where the stream had more bytes than are kept. */
  finish(): Uint8Array | null {
    return this.#bytesTotal <= this.#bytesMax ? Buffer.concat(this.#pieces) : null;
  }
}

/** Reads what a probe left, one output after another, and holds it in memory. `stdout`: null where it was too much. */
export async function takeProbeOutput(
  staged: StagedRun,
  outputs: readonly string[],
  stdout: Uint8Array | null,
  signal: AbortSignal,
): Promise<ProbeOutput> {
  if (stdout === null) {
    const found: FileReading = { kind: 'too_large', bytesMax: PROBE_FILE_BYTES_MAX };
    return { kind: 'refused', path: STDOUT, found };
  }
  const files = new Map([[STDOUT, stdout]]);
  let left = PROBE_BYTES_MAX - stdout.length;
  for (const path of outputs) {
    const found = await staged.readFile(path, Math.min(left, PROBE_FILE_BYTES_MAX), signal);
    if (found.kind !== 'file') return { kind: 'refused', path, found };
    files.set(path, found.head);
    left -= found.head.length;
  }
  return { kind: 'taken', files };
}

/** The tree in which the judge runs: what the probe left, and our guards. It holds no copy of either. */
export async function toJudgeTree(files: ReadonlyMap<string, Uint8Array>): Promise<TreeArchive> {
  const guards = Object.entries(JUDGE_GUARDS).map(([path, text]) =>
    toFile(path, Buffer.from(text)),
  );
  const outputs = [...files]
    .map(([path, content]) => toFile(`${PROBE_OUTPUT_FOLDER}/${path}`, content))
    .toSorted((left, right) => Buffer.compare(Buffer.from(left.path), Buffer.from(right.path)));
  const entries = [...guards, ...outputs];
  const open = (signal: AbortSignal) => packTree(toStream(entries), signal);
  const hash = createHash('sha256');
  for await (const piece of open(new AbortController().signal)) hash.update(piece);
  return {
    digest: hash.digest('hex'),
    entryCount: entries.length,
    bytesTotal: entries.reduce((sum, { size }) => sum + size, 0),
    open,
  };
}

async function* toStream(entries: readonly TreeEntry[]): AsyncGenerator<TreeEntry> {
  yield* entries;
}

function toFile(path: string, content: Uint8Array): Extract<TreeEntry, { type: 'file' }> {
  return { type: 'file', path, executable: false, size: content.length, content };
}

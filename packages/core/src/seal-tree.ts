import { sha256Hex } from './digest.ts';
import { packTree, type TreeArchive, type TreeEntry } from './tree.ts';

/** What a tree that is held in memory may take. */
export interface TreeLimits {
  /** Files and folders. */
  readonly entriesMax: number;
  /** Sum of file sizes in bytes. */
  readonly bytesMax: number;
}

/** Of a dependency bundle, wherever it is made, uploaded or used. */
export const BUNDLE_LIMITS: TreeLimits = { entriesMax: 20_000, bytesMax: 512 * 1_048_576 };

/**
 * Packs entries, which stand in the order of a walk by byte order of names, as the one archive of their content, held
 * in memory. Its digest is the SHA-256 of its stream.
 */
export async function sealTree(entries: readonly TreeEntry[]): Promise<TreeArchive> {
  const never = new AbortController().signal;
  const stream = Buffer.concat(await Array.fromAsync(packTree(toStream(entries), never)));
  return {
    digest: sha256Hex(stream),
    entryCount: entries.length,
    bytesTotal: entries.reduce((sum, each) => sum + (each.type === 'file' ? each.size : 0), 0),
    open: async function* (signal) {
      signal.throwIfAborted();
      yield stream;
    },
  };
}

async function* toStream(entries: readonly TreeEntry[]): AsyncGenerator<TreeEntry> {
  yield* entries;
}

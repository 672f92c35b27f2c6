import { packTree, type TreeArchive, type TreeEntry } from '@kervyxa/core';
import {
  isFileMode,
  MODE_EXECUTABLE,
  MODE_GITLINK,
  MODE_LINK,
  type TreeRecord,
} from '../tree/record.ts';
import { collect, readObjects, type StreamedObject } from './objects.ts';
import type { GitContext } from './process.ts';

type Written = ReadonlyMap<string, Uint8Array>;

const BLOCK_BYTES = 131_072;
/** Files up to this size are passed on whole; larger ones in pieces. */
const WHOLE_BYTES_MAX = 262_144;

/**
 * A tree as an archive of its raw blob bytes: no attributes, filters, line endings or checkout come between, so what
 * runs is what the commit's id names (THREATS D10, D11). A submodule is an empty folder. `written` holds, by id, the
 * contents that are no objects of the repository.
 */
export function createArchive(
  context: GitContext,
  tree: string,
  records: readonly TreeRecord[],
  written: Written = new Map(),
): TreeArchive {
  return {
    digest: tree,
    entryCount: records.length,
    bytesTotal: records.reduce((sum, { mode, size }) => sum + (isFileMode(mode) ? size : 0), 0),
    open: (signal) => toBlocks(packTree(toEntries(context, { records, written }, signal), signal)),
  };
}

/** Joins small pieces: a tree of many small files would cost its reader three of them a file. */
async function* toBlocks(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let held: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    held.push(piece);
    bytes += piece.length;
    if (bytes < BLOCK_BYTES) continue;
    yield Buffer.concat(held);
    held = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(held);
}

async function* toEntries(
  context: GitContext,
  { records, written }: { readonly records: readonly TreeRecord[]; readonly written: Written },
  signal: AbortSignal,
): AsyncGenerator<TreeEntry> {
  const contentOf = ({ mode, oid }: TreeRecord) =>
    isFileMode(mode) ? written.get(oid) : undefined;
  const ids = records
    .filter((record) => record.mode !== MODE_GITLINK && contentOf(record) === undefined)
    .map(({ oid }) => oid);
  const objects = readObjects(context, ids, signal);
  try {
    for (const record of records) {
      const { path, mode, size } = record;
      if (mode === MODE_GITLINK) {
        yield { type: 'folder', path };
        continue;
      }
      const content = contentOf(record);
      if (content !== undefined) {
        yield { type: 'file', path, executable: mode === MODE_EXECUTABLE, size, content };
        continue;
      }
      const { value: object } = await objects.next();
      if (object === undefined || object.type !== 'blob' || object.size !== size) {
        throw new Error('expected a blob of the size that was listed');
      }
      yield await toEntry(object, path, mode);
    }
    await objects.next();
  } finally {
    await objects.return(undefined);
  }
}

async function toEntry(object: StreamedObject, path: string, mode: string): Promise<TreeEntry> {
  const { size } = object;
  if (mode === MODE_LINK) {
    const target = Buffer.from((await collect(object, size)) ?? []).toString('utf8');
    return { type: 'symlink', path, target };
  }
  const executable = mode === MODE_EXECUTABLE;
  const whole = size <= WHOLE_BYTES_MAX ? await collect(object, size) : null;
  return { type: 'file', path, executable, size, content: whole ?? object.content };
}

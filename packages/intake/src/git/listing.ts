import { isUtf8 } from 'node:buffer';
import type { Readable } from 'node:stream';
import { MODE_FOLDER, type TreeRecord } from '../tree/record.ts';
import { readGit, toReadError, type GitContext } from './process.ts';
import type { IntakeLimits } from './limits.ts';

export type TreeListing =
  | { readonly kind: 'listed'; readonly records: readonly TreeRecord[] }
  | { readonly kind: 'too_large'; readonly message: string };

const SLASH = 0x2f;
/** Work grows with depth wherever paths are looked at; no honest tree is a tenth as deep. */
const FOLDERS_ABOVE_MAX = 256;
/** Paths are at most a few KiB; what has no end by then is a bomb of nested folders. */
const RECORD_BYTES_MAX = 16_384;
/**
 * All records together. It bounds the tree objects too, which git reads into memory whole, and the work of holding each
 * path against the patterns of a contract.
 */
const LISTING_BYTES_MAX = 32 * 1_048_576;

/**
 * Lists a tree, reading no further than the limits: a tree of a few kilobytes can name more paths than any memory
 * holds (THREATS G22). Sorted by path bytes, as git sorts.
 */
export async function listTree(
  context: GitContext,
  tree: string,
  limits: IntakeLimits,
  signal: AbortSignal,
): Promise<TreeListing> {
  const argv = ['ls-tree', '-r', '-t', '-z', '-l', '--full-tree', tree];
  const { value, end } = await readGit(context, argv, signal, (stdout) =>
    readListing(stdout, limits.treeEntriesMax),
  );
  if (typeof value === 'string') return { kind: 'too_large', message: `the tree has ${value}` };
  // A limit, a depth that overflows git's own stack, an entry that is no tree, or damage.
  if (end.exitCode !== 0) throw toReadError(new Error('expected ls-tree to end well'), end);
  return { kind: 'listed', records: value };
}

/** Exported for its fuzz test: what `ls-tree -l -z` prints, or why it is too much. */
export async function readListing(
  stdout: Readable,
  entriesMax: number,
): Promise<TreeRecord[] | string> {
  const records: TreeRecord[] = [];
  let entries = 0;
  let bytes = 0;
  for await (const record of splitRecords(stdout)) {
    if (record === null) return `a path of more than ${RECORD_BYTES_MAX} bytes`;
    const parsed = parseRecord(record);
    if (depthOf(record) > FOLDERS_ABOVE_MAX) return `folders more than ${FOLDERS_ABOVE_MAX} deep`;
    if (parsed.mode !== MODE_FOLDER) records.push(parsed);
    entries += 1;
    bytes += record.length;
    if (bytes > LISTING_BYTES_MAX) return 'names of too many bytes';
    if (entries > entriesMax) return `more than the ${entriesMax} entries allowed`;
  }
  return records;
}

function depthOf(record: Buffer): number {
  let depth = 0;
  for (let at = record.indexOf(SLASH); at >= 0; at = record.indexOf(SLASH, at + 1)) depth += 1;
  return depth;
}

/** NUL-ended records; null, and then nothing more, for one that is too long. */
export async function* splitRecords(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer | null> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const piece of stream) {
    const bytes: Buffer = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    let start = 0;
    for (let end = bytes.indexOf(0); end >= 0; end = bytes.indexOf(0, start)) {
      // Here as well: a verdict must not depend on how a pipe cuts its bytes.
      if (end - start > RECORD_BYTES_MAX) {
        yield null;
        return;
      }
      yield bytes.subarray(start, end);
      start = end + 1;
    }
    rest = bytes.subarray(start);
    if (rest.length > RECORD_BYTES_MAX) {
      yield null;
      return;
    }
  }
  if (rest.length > 0) yield null;
}

/** `<mode> <type> <oid> <size, padded, or ->\t<path>` */
function parseRecord(record: Buffer): TreeRecord {
  const tab = record.indexOf(0x09);
  const match = /^(\d{6}) [a-z]+ ([0-9a-f]{40}) +(\d+|-)$/.exec(record.toString('latin1', 0, tab));
  const [, mode, oid, size] = match ?? [];
  if (mode === undefined || oid === undefined) throw new Error('expected a record of ls-tree');
  const path = record.subarray(tab + 1);
  return {
    path: path.toString('utf8'),
    isUtf8: isUtf8(path),
    mode,
    oid,
    size: size === '-' ? 0 : Number(size),
  };
}

import { Header, Pax } from 'tar';

/**
 * A file tree as a POSIX tar stream, the one form in which a tree travels from where it is read (git, a hidden
 * package) to where it is run. It never exists as a folder on the host.
 *
 * Entries are regular files (mode 0644 or 0755), symbolic links and folders (0755); owner 0:0; every time the same
 * fixed second, so that equal trees are equal archives. Names are relative, without `.` or `..`, and unique.
 */
export interface TreeArchive {
  /** Names the content: equal digests, equal trees. */
  readonly digest: string;
  readonly entryCount: number;
  /** Sum of file sizes in bytes, without tar's own overhead. */
  readonly bytesTotal: number;
  /** Opens the stream anew; several may be open at once. Ends with tar's two zero blocks. */
  open(signal: AbortSignal): AsyncIterable<Uint8Array>;
}

export type TreeEntry =
  | {
      readonly type: 'file';
      readonly path: string;
      readonly executable: boolean;
      readonly size: number;
      /** The whole content at once, or in pieces; `size` bytes in all. */
      readonly content: Uint8Array | AsyncIterable<Uint8Array>;
    }
  | { readonly type: 'symlink'; readonly path: string; readonly target: string }
  | { readonly type: 'folder'; readonly path: string };

/** The time of every file of every tree: 2000-01-01T00:00:00Z. A solver can't choose it and no run sees another. */
export const TREE_TIME = new Date(946_684_800_000);

const BLOCK_BYTES = 512;
/** Zeros at the end of an archive. */
export const TREE_END_BYTES = 2 * BLOCK_BYTES;

/** Packs entries, in the order given, as the tar stream that `TreeArchive` describes; holds one piece in memory. */
export async function* packTree(
  entries: AsyncIterable<TreeEntry>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  for await (const entry of entries) {
    signal.throwIfAborted();
    yield* treeHeader(entry);
    if (entry.type === 'file') yield* packContent(entry, signal);
  }
  yield Buffer.alloc(TREE_END_BYTES);
}

/** What stands before the content of an entry. */
export function treeHeader(entry: TreeEntry): Uint8Array[] {
  const fields = { ...headerFields(entry), uid: 0, gid: 0, mtime: TREE_TIME };
  const header = new Header(fields);
  const needsPax = header.encode();
  if (header.block === undefined) throw new TypeError(`a tar header can't hold ${entry.path}`);
  if (!needsPax) return [header.block];
  // A long or non-ASCII name, link target or size does not fit the old fields: a pax record carries it.
  const { path, linkpath, size } = fields;
  const record = new Pax({ path, size, ...(linkpath !== undefined && { linkpath }) });
  return [record.encode(), header.block];
}

function headerFields(entry: TreeEntry): {
  path: string;
  mode: number;
  size: number;
  type: 'File' | 'SymbolicLink' | 'Directory';
  linkpath?: string;
} {
  const { path } = entry;
  if (entry.type === 'symlink') {
    return { path, mode: 0o777, size: 0, type: 'SymbolicLink', linkpath: entry.target };
  }
  if (entry.type === 'folder') return { path, mode: 0o755, size: 0, type: 'Directory' };
  return { path, mode: entry.executable ? 0o755 : 0o644, size: entry.size, type: 'File' };
}

async function* packContent(
  file: Extract<TreeEntry, { type: 'file' }>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  let written = 0;
  const pieces = file.content instanceof Uint8Array ? [file.content] : file.content;
  for await (const piece of pieces) {
    signal.throwIfAborted();
    written += piece.length;
    yield piece;
  }
  if (written !== file.size) {
    throw new RangeError(`expected ${file.size} bytes of ${file.path}, got ${written}`);
  }
  yield treePadding(file.size);
}

/** What stands after the content of a file of so many bytes. */
export function treePadding(bytes: number): Uint8Array {
  return new Uint8Array((BLOCK_BYTES - (bytes % BLOCK_BYTES)) % BLOCK_BYTES);
}

import { createHash } from 'node:crypto';
import {
  createTarReader,
  isAppError,
  toPrintable,
  TREE_END_BYTES,
  treeHeader,
  treePadding,
  type TarEntry,
  type TreeEntry,
} from '@kervyxa/core';
import { createIntakeError } from '../errors.ts';
import { pathProblem } from '../tree/names.ts';
import { refused, tooLarge, type PackageLimits } from './seal.ts';

/**
 * Passes an archive on as it comes and holds no more of it than a piece. It must be the one archive of its content, as
 * `sealPackage` and `kervyxa deps pack` write it: then its digest is known without putting it in order. `onEnd` learns
 * how many files and folders it has, and how many bytes they have, before the last piece is passed on.
 *
 * Throws INTAKE_PACKAGE_NOT_CANONICAL, INTAKE_PACKAGE_ENTRY_REFUSED, INTAKE_PACKAGE_TOO_LARGE, and what the stream throws.
 */
export async function* passCanonical(
  stream: AsyncIterable<Uint8Array>,
  limits: PackageLimits,
  onEnd: (entryCount: number, bytesTotal: number) => void,
): AsyncGenerator<Uint8Array> {
  const check = createCheck(limits);
  let last: Uint8Array | null = null;
  for await (const piece of stream) {
    if (last !== null) yield last;
    check.write(Buffer.from(piece));
    last = piece;
  }
  const { entries, bytes } = check.end();
  onEnd(entries, bytes);
  if (last !== null) yield last;
}

/** Writes the archive that the entries should have made beside the one that came, and compares the digests of both. */
function createCheck(limits: PackageLimits): {
  write(piece: Buffer): void;
  end(): { readonly entries: number; readonly bytes: number };
} {
  const came = createHash('sha256');
  const canonical = createHash('sha256');
  const order = createOrder();
  const used = { entries: 0, bytes: 0 };
  let open: TarEntry | null = null;

  const endEntry = (): void => {
    if (open?.type === 'file') canonical.update(treePadding(open.size));
    open = null;
  };
  const reader = createTarReader((entry) => {
    endEntry();
    open = entry;
    const tree = toTreeEntry(entry);
    order.add(tree);
    used.entries += 1;
    if (used.entries > limits.entriesMax) throw tooLarge(`${limits.entriesMax} files and folders`);
    if (tree.type === 'file') used.bytes += tree.size;
    if (!(used.bytes <= limits.bytesMax)) throw tooLarge(`${limits.bytesMax} bytes`);
    for (const block of treeHeader(tree)) canonical.update(block);
    return (piece) => void canonical.update(piece);
  });
  return {
    write: (piece) => {
      came.update(piece);
      reading(() => reader.write(piece));
    },
    end: () => {
      reading(() => reader.end());
      endEntry();
      canonical.update(Buffer.alloc(TREE_END_BYTES));
      if (came.digest('hex') !== canonical.digest('hex')) {
        throw notCanonical('got the same files with other owners, times, permissions or format');
      }
      return used;
    },
  };
}

function reading(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (isAppError(error)) throw error;
    throw notCanonical('got something else, or a part of one', error);
  }
}

/** Without content, which is seen as it passes. */
function toTreeEntry({ type, path: given, executable, size }: TarEntry): TreeEntry {
  const path = type === 'folder' ? given.replace(/\/$/, '') : given;
  if (type === 'symlink') throw refused(path, 'is a symbolic link');
  if (type === 'other') throw refused(path, 'is neither a regular file nor a folder');
  // Bytes that are not UTF-8 have become this.
  const problem = path.includes('\ufffd') ? 'is not UTF-8' : pathProblem(path);
  if (problem !== null) throw refused(path, problem);
  if (type === 'folder') return { type, path };
  return { type, path, executable, size, content: new Uint8Array() };
}

/** That of a walk by byte order of names: each folder is named, just before what is in it, and nothing twice. */
function createOrder(): { add(entry: TreeEntry): void } {
  /** The folders that the last entry is in, itself included where it is one, each by its name. */
  let folders: string[] = [];
  /** The name that came last in the folder at each depth. */
  let lasts: string[] = [];
  return {
    add: ({ type, path }) => {
      const names = path.split('/');
      const name = names.pop() ?? '';
      const depth = names.length;
      const isBelow = names.every((each, index) => each === folders[index]);
      const before = lasts[depth];
      const isAfter = before === undefined || Buffer.from(before).compare(Buffer.from(name)) < 0;
      if (!isBelow || !isAfter) {
        throw notCanonical(`got ${toPrintable(path, 300)} out of the order of a walk by name`);
      }
      folders = type === 'folder' ? [...names, name] : names;
      lasts = [...lasts.slice(0, depth), name];
    },
  };
}

function notCanonical(got: string, cause?: unknown): Error {
  return createIntakeError('INTAKE_PACKAGE_NOT_CANONICAL', {
    message: `expected an archive as kervyxa deps pack and kervyxa package pack write it, ${got}`,
    fix: 'give the file that they write, as it is; only small uploads are put in order',
    cause,
  });
}

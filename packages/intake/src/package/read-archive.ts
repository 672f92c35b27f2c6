import { isAppError, isCompressed, readTar, type TarEntry, type TreeEntry } from '@kervyxa/core';
import { createIntakeError } from '../errors.ts';
import { pathProblem } from '../tree/names.ts';
import {
  PACKAGE_LIMITS,
  refused,
  sealPackage,
  tooLarge,
  type PackageLimits,
  type VerifierPackage,
} from './seal.ts';

/**
 * Reads the hidden package from an archive of its folder, any plain tar of it, also one that `loadVerifierPackage` or
 * this function made. The result, and so the digest, is the same as for the folder itself: order, times, owners, other
 * permissions and a leading `./` do not matter.
 *
 * Throws INTAKE_PACKAGE_UNREADABLE, INTAKE_PACKAGE_ENTRY_REFUSED, INTAKE_PACKAGE_TOO_LARGE, and what the stream throws.
 */
export async function readPackageArchive(
  stream: AsyncIterable<Uint8Array>,
  limits: PackageLimits = PACKAGE_LIMITS,
): Promise<VerifierPackage> {
  const bytes = await collect(stream, limits);
  if (isCompressed(bytes)) throw unreadable('got a compressed one');
  const root = await readFolders(bytes, limits);
  return sealPackage([...walk(root, '')]);
}

/** What an archive may spend on one entry besides its content: headers, long names, padding. */
const OVERHEAD_BYTES_MAX = 4_096;

type Node = Folder | { executable: boolean; readonly size: number; readonly pieces: Uint8Array[] };
type Folder = Map<string, Node>;

async function collect(
  stream: AsyncIterable<Uint8Array>,
  { entriesMax, bytesMax }: PackageLimits,
): Promise<Buffer> {
  const archiveBytesMax = bytesMax + (entriesMax + 10) * OVERHEAD_BYTES_MAX;
  const pieces: Uint8Array[] = [];
  let total = 0;
  for await (const piece of stream) {
    total += piece.length;
    if (total > archiveBytesMax) throw tooLarge(`${bytesMax} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

async function readFolders(bytes: Buffer, limits: PackageLimits): Promise<Folder> {
  const root: Folder = new Map();
  const used = { entries: 0, bytes: 0 };
  const whole = async function* (): AsyncGenerator<Uint8Array> {
    yield bytes;
  };
  try {
    await readTar(whole(), (entry) => {
      const pieces = place(root, entry, used);
      if (used.entries > limits.entriesMax) {
        throw tooLarge(`${limits.entriesMax} files and folders`);
      }
      if (pieces === null) return undefined;
      used.bytes += entry.size;
      if (!(used.bytes <= limits.bytesMax)) throw tooLarge(`${limits.bytesMax} bytes`);
      return (piece) => void pieces.push(piece);
    });
  } catch (error) {
    if (isAppError(error)) throw error;
    throw unreadable('got something else, or a part of one', error);
  }
  return root;
}

/** Adds an entry, and the folders that it is in; answers where its content goes, or null for a folder. */
function place(root: Folder, entry: TarEntry, used: { entries: number }): Uint8Array[] | null {
  const path = entry.path.replace(/^(?:\.\/+)+/, '').replace(/\/+$/, '');
  if (entry.type === 'folder' && (path === '' || path === '.')) return null;
  if (entry.type === 'symlink') throw refused(path, 'is a symbolic link');
  if (entry.type === 'other') throw refused(path, 'is neither a regular file nor a folder');
  // Bytes that are not UTF-8 have become this.
  const problem = path.includes('\ufffd') ? 'is not UTF-8' : pathProblem(path);
  if (problem !== null) throw refused(path, problem);
  const names = path.split('/');
  const last = names.pop() ?? '';
  let folder = root;
  for (const name of entry.type === 'folder' ? [...names, last] : names) {
    const found = folder.get(name) ?? new Map<string, Node>();
    if (!(found instanceof Map)) throw refused(path, 'is there twice, as a file and as a folder');
    if (!folder.has(name)) used.entries += 1;
    folder.set(name, found);
    folder = found;
  }
  if (entry.type === 'folder') return null;
  if (folder.has(last)) throw refused(path, 'is there twice');
  used.entries += 1;
  const pieces: Uint8Array[] = [];
  folder.set(last, { executable: entry.executable, size: entry.size, pieces });
  return pieces;
}

function* walk(folder: Folder, below: string): Generator<TreeEntry> {
  const names = [...folder].toSorted(([a], [b]) => Buffer.from(a).compare(Buffer.from(b)));
  for (const [name, node] of names) {
    const path = below === '' ? name : `${below}/${name}`;
    if (node instanceof Map) {
      yield { type: 'folder', path };
      yield* walk(node, path);
      continue;
    }
    const { executable, size, pieces } = node;
    const content = Buffer.concat(pieces);
    if (content.length !== size) throw unreadable(`got one that lacks bytes of ${path}`);
    yield { type: 'file', path, executable, size, content };
  }
}

function unreadable(got: string, cause?: unknown): Error {
  return createIntakeError('INTAKE_PACKAGE_UNREADABLE', {
    message: `expected a plain tar archive of the hidden package, ${got}`,
    fix: 'make it with tar -cf PACKAGE.tar -C FOLDER ., uncompressed',
    cause,
  });
}

import { isUtf8 } from 'node:buffer';
import { toPrintable } from '@kervyxa/core';
import type { ChangedFile, TreeFault } from '../port.ts';
import { isLfsPointer, lfsFault, LFS_POINTER_BYTES_MAX, submoduleFaults } from '../tree/changes.ts';
import { lintTree, newFaults } from '../tree/lint.ts';
import { rawTreeFaults } from '../tree/raw-tree.ts';
import { isFileMode, MODE_LINK, type TreeRecord } from '../tree/record.ts';
import { diffTrees, type ChangedEntry, type ChangedFolder } from './diff.ts';
import type { IntakeLimits } from './limits.ts';
import { collect, readObjects } from './objects.ts';
import type { GitContext } from './process.ts';

/** A listed tree and its id. */
export interface KnownTree {
  readonly id: string;
  readonly records: readonly TreeRecord[];
}

/** Target text by path of every link; null for one that is no path. */
export type Links = ReadonlyMap<string, string | null>;

export interface Inspection {
  readonly changedFiles: readonly ChangedFile[];
  readonly faults: readonly TreeFault[];
  readonly links: Links;
}

/** A link's target is a path, and no kernel follows a longer one. */
const LINK_BYTES_MAX = 4_095;
const FOLDER_BYTES_MAX = 16 * 1_048_576;

/** One object to read, and what to do with its content: null where it has more than `bytesMax` bytes. */
interface Reading {
  readonly oid: string;
  readonly bytesMax: number;
  take(content: Uint8Array | null, type: string): void;
}

/**
 * Compares a listed tree with its base and finds the faults that the submission brought. Throws LimitReached where
 * reading what it brought takes too long: within half the time that unpacking has, so that unpacking will not.
 */
export async function inspect(
  context: GitContext,
  base: KnownTree & { readonly links: Links },
  tree: KnownTree,
  signal: AbortSignal,
): Promise<Inspection> {
  const { changes, changedFolders } = await diffTrees(context, base.id, tree.id, signal);
  const links = new Map<string, string | null>();
  const folders: FolderContent[] = [];
  const fileFaults: TreeFault[] = [];
  const readings = [
    ...linkReadings(tree.records, links),
    ...folderReadings(changedFolders, folders),
    ...fileReadings(changes, tree.records, context.limits, fileFaults),
  ];
  await readAll(withHalfTheTime(context), readings, signal);
  const faults = [
    ...newTreeFaults(base, { ...tree, links }, context.limits),
    ...submoduleFaults(changes),
    ...(await folderFaults(context, folders, signal)),
    ...fileFaults,
  ];
  const changedFiles = changes.map(({ path, status, baseMode, mode }) => ({
    path,
    status,
    baseMode,
    mode,
  }));
  return { changedFiles, faults, links };
}

/** The targets of a tree's links. */
export async function readLinks(
  context: GitContext,
  records: readonly TreeRecord[],
  signal: AbortSignal,
): Promise<Links> {
  const links = new Map<string, string | null>();
  await readAll(context, linkReadings(records, links), signal);
  return links;
}

/** Paths of the files that are Git LFS pointers. */
export async function findLfsPointers(
  context: GitContext,
  records: readonly TreeRecord[],
  signal: AbortSignal,
): Promise<string[]> {
  const found: string[] = [];
  const small = records.filter(
    ({ mode, size }) => isFileMode(mode) && size <= LFS_POINTER_BYTES_MAX,
  );
  await readAll(
    context,
    small.map(({ path, oid }) => ({
      oid,
      bytesMax: LFS_POINTER_BYTES_MAX,
      take: (content) => {
        if (content !== null && isLfsPointer(content)) found.push(path);
      },
    })),
    signal,
  );
  return found;
}

function newTreeFaults(
  base: KnownTree & { readonly links: Links },
  tree: KnownTree & { readonly links: Links },
  limits: IntakeLimits,
): TreeFault[] {
  const faults = lintTree(tree, limits);
  return faults.length === 0 ? [] : newFaults(faults, lintTree(base, limits));
}

/** Fills in the target text by path of every link; null for one that is no path. */
function linkReadings(
  records: readonly TreeRecord[],
  links: Map<string, string | null>,
): Reading[] {
  const all = records.filter(({ mode }) => mode === MODE_LINK);
  for (const { path } of all.filter(({ size }) => size > LINK_BYTES_MAX)) links.set(path, null);
  return all
    .filter(({ size }) => size <= LINK_BYTES_MAX)
    .map(({ path, oid }) => ({
      oid,
      bytesMax: LINK_BYTES_MAX,
      take: (content) => {
        const isPath =
          content !== null && content.length > 0 && isUtf8(content) && !content.includes(0);
        links.set(path, isPath ? Buffer.from(content).toString('utf8') : null);
      },
    }));
}

interface FolderContent {
  readonly folder: ChangedFolder;
  /** Null for more bytes than are allowed. */
  readonly bytes: Uint8Array | null;
}

function folderReadings(folders: readonly ChangedFolder[], found: FolderContent[]): Reading[] {
  return folders.map((folder) => ({
    oid: folder.oid,
    bytesMax: FOLDER_BYTES_MAX,
    take: (bytes) => void found.push({ folder, bytes }),
  }));
}

/** Strictness for the folders the submission brings; what stands in the base's already is not its doing. */
async function folderFaults(
  context: GitContext,
  folders: readonly FolderContent[],
  signal: AbortSignal,
): Promise<TreeFault[]> {
  const faults: TreeFault[] = [];
  const suspects: { folder: ChangedFolder; bytes: Uint8Array; baseOid: string }[] = [];
  for (const { folder, bytes } of folders) {
    const { path, baseOid } = folder;
    if (bytes === null) {
      const message = `the folder ${toPrintable(path, 300)} has more entries than are allowed`;
      faults.push({ reason: 'SOURCE_TOO_LARGE', path, message });
      continue;
    }
    const strict = rawTreeFaults(path, bytes, null);
    if (strict.length > 0 && baseOid !== null) suspects.push({ folder, bytes, baseOid });
    else faults.push(...strict);
  }
  await readAll(
    context,
    suspects.map(({ folder: { path }, bytes, baseOid }) => ({
      oid: baseOid,
      bytesMax: FOLDER_BYTES_MAX,
      take: (baseBytes) => void faults.push(...rawTreeFaults(path, bytes, baseBytes)),
    })),
    signal,
  );
  return faults;
}

/**
 * Every file that the submission changed is read, whatever its size: git's own checks do not hold over a server of
 * plain files, where an entry of a file's mode can name a folder, and a pack can make small files take for ever to
 * unpack. Either would fail only when the tree is unpacked, at every try.
 */
function fileReadings(
  changes: readonly ChangedEntry[],
  records: readonly TreeRecord[],
  { fileBytesMax, treeBytesMax }: IntakeLimits,
  faults: TreeFault[],
): Reading[] {
  const sizes = new Map(records.map(({ path, size }) => [path, size]));
  let bytesLeft = treeBytesMax;
  return changes.flatMap(({ path, mode, oid, baseOid }): Reading[] => {
    if (!isFileMode(mode) && mode !== MODE_LINK) return [];
    const size = sizes.get(path) ?? 0;
    // What is larger is a fault of its own, and never unpacked.
    if (size > fileBytesMax || size > bytesLeft) return [];
    bytesLeft -= size;
    // A pointer of the base that was only made executable is not one that the submission adds.
    const mayBePointer = isFileMode(mode) && oid !== baseOid;
    const take = (content: Uint8Array | null, type: string): void => {
      if (type !== 'blob') {
        const message = `${toPrintable(path, 300)} has the mode of a file and is a ${type}`;
        faults.push({ reason: 'UNSAFE_PATH', path, message });
      } else if (mayBePointer && content !== null && isLfsPointer(content)) {
        faults.push(lfsFault(path));
      }
    };
    return [{ oid, bytesMax: LFS_POINTER_BYTES_MAX, take }];
  });
}

function withHalfTheTime(context: GitContext): GitContext {
  const { gitCpuSecondsMax, gitWallSecondsMax } = context.limits;
  const limits = {
    ...context.limits,
    gitCpuSecondsMax: Math.ceil(gitCpuSecondsMax / 2),
    gitWallSecondsMax: Math.ceil(gitWallSecondsMax / 2),
  };
  return { ...context, limits };
}

async function readAll(
  context: GitContext,
  readings: readonly Reading[],
  signal: AbortSignal,
): Promise<void> {
  const ids = readings.map(({ oid }) => oid);
  let index = 0;
  for await (const object of readObjects(context, ids, signal)) {
    const reading = readings[index];
    index += 1;
    reading?.take(await collect(object, reading.bytesMax), object.type);
  }
}

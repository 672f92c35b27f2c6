import { isUtf8 } from 'node:buffer';
import { toPrintable } from '@kervyxa/core';
import type { ChangedFile, TreeFault } from '../port.ts';
import { isLfsPointer, lfsFault, LFS_POINTER_BYTES_MAX, submoduleFaults } from '../tree/changes.ts';
import { lintTree, newFaults } from '../tree/lint.ts';
import { rawTreeFaults } from '../tree/raw-tree.ts';
import { isFileMode, MODE_LINK, type TreeRecord } from '../tree/record.ts';
import { diffTrees, type TreeDiff } from './diff.ts';
import { collect, readObjects } from './objects.ts';
import type { GitContext } from './process.ts';

/** A listed tree and its id. */
export interface KnownTree {
  readonly id: string;
  readonly records: readonly TreeRecord[];
}

export interface Inspection {
  readonly changedFiles: readonly ChangedFile[];
  readonly faults: readonly TreeFault[];
}

/** A link's target is a path, and no kernel follows a longer one. */
const LINK_BYTES_MAX = 4_095;
const FOLDER_BYTES_MAX = 16 * 1_048_576;

/** One object to read, and what to do with its content: null where it has more than `bytesMax` bytes. */
interface Reading {
  readonly oid: string;
  readonly bytesMax: number;
  take(content: Uint8Array | null): void;
}

type Links = Map<string, string | null>;

/** Compares a listed tree with its base and finds the faults that the submission brought. */
export async function inspect(
  context: GitContext,
  base: KnownTree,
  tree: KnownTree,
  signal: AbortSignal,
): Promise<Inspection> {
  const { changes, changedFolders } = await diffTrees(context, base.id, tree.id, signal);
  const links: Links = new Map();
  const found: TreeFault[] = [];
  await readAll(
    context,
    [
      ...linkReadings(tree.records, links),
      ...folderReadings(changedFolders, found),
      ...lfsReadings(changes, tree.records, found),
    ],
    signal,
  );
  const faults = [
    ...(await newTreeFaults(context, base, { ...tree, links }, signal)),
    ...submoduleFaults(changes),
    ...found,
  ];
  const changedFiles = changes.map(({ path, status, baseMode, mode }) => ({
    path,
    status,
    baseMode,
    mode,
  }));
  return { changedFiles, faults };
}

async function newTreeFaults(
  context: GitContext,
  base: KnownTree,
  tree: KnownTree & { links: Links },
  signal: AbortSignal,
): Promise<TreeFault[]> {
  const faults = lintTree(tree, context.limits);
  if (faults.length === 0) return [];
  const links: Links = new Map();
  await readAll(context, linkReadings(base.records, links), signal);
  return newFaults(faults, lintTree({ records: base.records, links }, context.limits));
}

/** Fills in the target text by path of every link; null for one that is no path. */
function linkReadings(records: readonly TreeRecord[], links: Links): Reading[] {
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

/** Strictness for the folders the submission brings; those of the base are not its doing. */
function folderReadings(folders: TreeDiff['changedFolders'], faults: TreeFault[]): Reading[] {
  return folders.map(({ path, oid }) => ({
    oid,
    bytesMax: FOLDER_BYTES_MAX,
    take: (content) => {
      if (content === null) {
        const message = `the folder ${toPrintable(path, 300)} has more entries than are allowed`;
        faults.push({ reason: 'SOURCE_TOO_LARGE', path, message });
      } else faults.push(...rawTreeFaults(path, content));
    },
  }));
}

function lfsReadings(
  changes: TreeDiff['changes'],
  records: readonly TreeRecord[],
  faults: TreeFault[],
): Reading[] {
  const changed = new Set(changes.filter(({ mode }) => isFileMode(mode)).map(({ path }) => path));
  return records
    .filter(({ path, size }) => size <= LFS_POINTER_BYTES_MAX && changed.has(path))
    .map(({ path, oid }) => ({
      oid,
      bytesMax: LFS_POINTER_BYTES_MAX,
      take: (content) => {
        if (content !== null && isLfsPointer(content)) faults.push(lfsFault(path));
      },
    }));
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
    reading?.take(await collect(object, reading.bytesMax));
  }
}

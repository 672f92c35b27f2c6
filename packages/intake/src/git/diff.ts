import type { Readable } from 'node:stream';
import type { ChangedFile } from '../port.ts';
import { statusOf } from '../tree/changes.ts';
import { MODE_ABSENT, MODE_FOLDER } from '../tree/record.ts';
import { splitRecords } from './listing.ts';
import { readGit, toReadError, type GitContext } from './process.ts';

export interface TreeDiff {
  /** Sorted by path bytes. */
  readonly changes: readonly ChangedEntry[];
  /** Tree objects that the base does not have at that path. */
  readonly changedFolders: readonly ChangedFolder[];
}

export interface ChangedEntry extends ChangedFile {
  readonly oid: string;
  readonly baseOid: string;
}

export interface ChangedFolder {
  readonly path: string;
  readonly oid: string;
  /** Null where the base has no folder there. */
  readonly baseOid: string | null;
}

/**
 * Compares two trees, entry by entry. Rename detection stays off: it is a guess that depends on limits, and a renamed
 * protected file is a deleted one (THREATS D01-D06). Both trees must have been listed within limits before, because
 * git holds the whole comparison in memory.
 */
export async function diffTrees(
  context: GitContext,
  baseTree: string,
  tree: string,
  signal: AbortSignal,
): Promise<TreeDiff> {
  const argv = [
    'diff-tree',
    '-r',
    '-t',
    '-z',
    '--raw',
    '--full-index',
    '--no-renames',
    '--ignore-submodules=none',
    '--no-ext-diff',
    '--no-textconv',
    baseTree,
    tree,
  ];
  const { value, end } = await readGit(context, argv, signal, readDiff);
  if (end.exitCode !== 0) throw toReadError(new Error('expected diff-tree to end well'), end);
  // Git lists the folders below the root, not the root itself.
  const root = baseTree === tree ? [] : [{ path: '', oid: tree, baseOid: baseTree }];
  return { changes: value.changes, changedFolders: [...root, ...value.changedFolders] };
}

/** Exported for its fuzz test: what `diff-tree --raw -z` prints. */
export async function readDiff(stdout: Readable): Promise<TreeDiff> {
  const changes: ChangedEntry[] = [];
  const changedFolders: ChangedFolder[] = [];
  let header: RegExpExecArray | null = null;
  for await (const record of splitRecords(stdout)) {
    if (record === null) throw new Error('expected a whole record of diff-tree');
    if (header === null) {
      header = HEADER.exec(record.toString('latin1'));
      if (header === null) throw new Error('expected the head of a diff-tree record');
      continue;
    }
    const [, baseMode = '', mode = '', baseOid = '', oid = ''] = header;
    const path = record.toString('utf8');
    header = null;
    if (mode === MODE_FOLDER) {
      changedFolders.push({ path, oid, baseOid: baseMode === MODE_FOLDER ? baseOid : null });
    }
    const from = baseMode === MODE_FOLDER ? MODE_ABSENT : baseMode;
    const to = mode === MODE_FOLDER ? MODE_ABSENT : mode;
    if (from === to && from === MODE_ABSENT) continue;
    changes.push({ path, status: statusOf(from, to), baseMode: from, mode: to, oid, baseOid });
  }
  if (header !== null) throw new Error('expected a path after the head of a diff-tree record');
  return { changes, changedFolders };
}

/** `:<base mode> <mode> <base oid> <oid> <status>`, followed by the path as a record of its own. */
const HEADER = /^:(\d{6}) (\d{6}) ([0-9a-f]{40}) ([0-9a-f]{40}) [ADMT]$/;

import { sha256Hex } from '@kervyxa/core';
import type { ChangedFile, TreeEdit, TreeFault } from '../port.ts';
import { isLfsPointer, lfsFault, LFS_POINTER_BYTES_MAX, submoduleFaults } from './changes.ts';
import { compareTrees, sortByPath } from './compare.ts';
import { lintTree, newFaults, type LintedTree, type TreeSizes } from './lint.ts';
import { isFileMode, MODE_FILE, MODE_LINK, type TreeRecord } from './record.ts';

/** A whole tree with its id. */
export interface NamedTree extends LintedTree {
  readonly id: string;
}

export interface DerivedTree extends NamedTree {
  readonly changedFiles: readonly ChangedFile[];
  readonly treeFaults: readonly TreeFault[];
  /** What was written, by object id. */
  readonly written: ReadonlyMap<string, Uint8Array>;
}

export interface DeriveRequest {
  readonly base: NamedTree;
  /** Without faults of its own. */
  readonly commit: NamedTree;
  readonly from: 'commit' | 'base';
  readonly edits: readonly TreeEdit[];
}

/**
 * Edits the records of a tree and looks at the outcome as at a commit's. Pure. `blobIdOf` names a content as the trees'
 * own objects are named, so that what is written back as it was is no change.
 */
export function deriveTree(
  { base, commit, from, edits }: DeriveRequest,
  blobIdOf: (content: Uint8Array) => string,
  sizes: TreeSizes,
): DerivedTree {
  const written = new Map<string, Uint8Array>();
  const writeFile = (path: string, content: Uint8Array, mode: string): TreeRecord => {
    const oid = blobIdOf(content);
    written.set(oid, content);
    return { path, isUtf8: true, mode, oid, size: content.length };
  };
  const inBase = new Map(base.records.map((record) => [record.path, record]));
  const inCommit = new Map(commit.records.map((record) => [record.path, record]));
  const start = from === 'base' ? base : commit;
  const placed = new Map(start.records.map((record) => [record.path, record]));
  for (const edit of edits) {
    const there = placed.get(edit.path);
    placed.delete(edit.path);
    if (edit.kind === 'delete') continue;
    const modes = [there?.mode, inCommit.get(edit.path)?.mode];
    const mode = modes.find((each) => each !== undefined && isFileMode(each)) ?? MODE_FILE;
    const record =
      edit.kind === 'revert' ? inBase.get(edit.path) : writeFile(edit.path, edit.content, mode);
    if (record === undefined) continue;
    // Where something stood, nothing else is in the way.
    if (there === undefined) makeWay(placed, edit.path);
    placed.set(edit.path, record);
  }
  const records = sortByPath([...placed.values()]);
  const tree = { records, links: linksOf(records, [base, commit]) };
  const changedFiles = compareTrees(base.records, records);
  const treeFaults = [
    ...newFaults(lintTree(tree, sizes), lintTree(base, sizes)),
    ...submoduleFaults(changedFiles),
    ...changedFiles.flatMap(({ path }) => pointerFaults(placed.get(path), written)),
  ];
  return { ...tree, id: idOf(records, [base, commit]), changedFiles, treeFaults, written };
}

/** Takes away what can't stand beside an entry at the path: a file above it, and everything below it. */
function makeWay(placed: Map<string, TreeRecord>, path: string): void {
  for (let slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1)) {
    placed.delete(path.slice(0, slash));
  }
  for (const other of placed.keys()) {
    if (other.startsWith(`${path}/`)) placed.delete(other);
  }
}

/** A link's target is its object, wherever in the trees that stands. */
function linksOf(
  records: readonly TreeRecord[],
  trees: readonly NamedTree[],
): Map<string, string | null> {
  const targets = new Map(
    trees.flatMap((tree) =>
      tree.records.flatMap(({ path, oid }) => {
        const target = tree.links.get(path);
        return target === undefined ? [] : [[oid, target] as const];
      }),
    ),
  );
  return new Map(
    records.flatMap(({ path, mode, oid }) =>
      mode === MODE_LINK ? [[path, targets.get(oid) ?? null] as const] : [],
    ),
  );
}

/** What the commit itself brought was looked at when it was fetched. */
function pointerFaults(
  record: TreeRecord | undefined,
  written: ReadonlyMap<string, Uint8Array>,
): TreeFault[] {
  const content = record === undefined ? undefined : written.get(record.oid);
  if (record === undefined || content === undefined) return [];
  return content.length <= LFS_POINTER_BYTES_MAX && isLfsPointer(content)
    ? [lfsFault(record.path)]
    : [];
}

function idOf(records: readonly TreeRecord[], trees: readonly NamedTree[]): string {
  const same = trees.find((tree) => compareTrees(tree.records, records).length === 0);
  const named = records.map(({ path, mode, oid }) => [path, mode, oid]);
  return same?.id ?? sha256Hex(JSON.stringify(named));
}

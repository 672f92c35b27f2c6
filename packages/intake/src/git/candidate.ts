import { createHash } from 'node:crypto';
import { deriveTree, type DerivedTree, type NamedTree } from '../tree/derive.ts';
import { isFileMode } from '../tree/record.ts';
import type { CandidateTree, FetchedCommit, TreeFault, TreeFiles } from '../port.ts';
import { createArchive } from './archive.ts';
import type { Inspection, KnownTree } from './inspect.ts';
import { readFileOf } from './objects.ts';
import type { GitContext } from './process.ts';

/** What is known of a commit before its trees are read. */
type ReadCommit = Pick<
  FetchedCommit,
  'commit' | 'tree' | 'baseTree' | 'message' | 'exportCapture' | 'close'
>;

interface Content {
  readonly context: GitContext;
  readonly base: NamedTree;
  readonly signal: AbortSignal;
}

/** A commit on top of its base, readable as long as its stores are held. */
export function withTrees(
  read: ReadCommit,
  content: Content,
  { id, records }: KnownTree,
  { changedFiles, faults, links }: Inspection,
): FetchedCommit {
  const { base, context } = content;
  const commit = { id, records, links };
  const own = { ...commit, changedFiles, treeFaults: faults, written: new Map() };
  return {
    ...read,
    ...toCandidate(read, content, own),
    derive: (from, edits) => {
      assertClean(faults);
      const derived = deriveTree({ base, commit, from, edits }, blobIdOf, context.limits);
      return toCandidate(read, content, derived);
    },
  };
}

function toCandidate(
  { message }: ReadCommit,
  { context, base, signal }: Content,
  tree: DerivedTree,
): CandidateTree {
  const { id, records, changedFiles, treeFaults, written } = tree;
  return {
    tree: id,
    baseTree: base.id,
    message,
    isDescendant: true,
    changedFiles,
    treeFaults,
    archive: () => {
      assertClean(treeFaults);
      return createArchive(context, id, records, written);
    },
    baseArchive: () => createArchive(context, base.id, base.records),
    files: () => {
      assertClean(treeFaults);
      return toFiles(context, tree, signal);
    },
    baseFiles: () => toFiles(context, { ...base, written: new Map() }, signal),
  };
}

function toFiles(
  context: GitContext,
  { records, written }: Pick<DerivedTree, 'records' | 'written'>,
  signal: AbortSignal,
): TreeFiles {
  const files = new Map(records.map((record) => [record.path, record]));
  return {
    paths: [...files.keys()],
    readFile: async (path, bytesMax) => {
      const record = files.get(path);
      const content = written.get(record?.oid ?? '');
      if (record === undefined || content === undefined || !isFileMode(record.mode)) {
        return readFileOf(context, record, bytesMax, signal);
      }
      return content.length > bytesMax ? null : content;
    },
  };
}

function blobIdOf(content: Uint8Array): string {
  return createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');
}

function assertClean(faults: readonly TreeFault[]): void {
  if (faults.length > 0) throw new TypeError('a tree with faults has no archive');
}

/** A commit beside its base: there is no comparison, and nothing of it may be run. */
export function withoutTrees(read: ReadCommit): FetchedCommit {
  return {
    ...read,
    isDescendant: false,
    changedFiles: [],
    treeFaults: [],
    archive: noTree,
    baseArchive: noTree,
    files: noTree,
    baseFiles: noTree,
    derive: noTree,
  };
}

function noTree(): never {
  throw new TypeError('a commit that does not descend from the base has no archive');
}

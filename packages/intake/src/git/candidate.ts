import { createHash } from 'node:crypto';
import { deriveTree, type DerivedTree, type NamedTree } from '../tree/derive.ts';
import { isFileMode, type TreeRecord } from '../tree/record.ts';
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
  readonly base: NamedTree;
  readonly context: GitContext;
  readonly readFile: ReadFile;
}

type ReadFile = (record: TreeRecord | undefined, bytesMax: number) => Promise<Uint8Array | null>;

/** Contents that are kept together: every file read is a process, and derived trees share most files. */
const KEPT_BYTES_MAX = 16_777_216;

/** A commit on top of its base, readable as long as its stores are held. */
export function withTrees(
  read: ReadCommit,
  { signal, ...known }: Omit<Content, 'readFile'> & { readonly signal: AbortSignal },
  { id, records }: KnownTree,
  { changedFiles, faults, links }: Inspection,
): FetchedCommit {
  const { base, context } = known;
  const content = { ...known, readFile: createReader(context, signal) };
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
  { context, base, readFile }: Content,
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
      return toFiles(tree, readFile);
    },
    baseFiles: () => toFiles({ ...base, written: new Map() }, readFile),
  };
}

/** Reads blobs through git, each once while there is room to keep it. */
function createReader(context: GitContext, signal: AbortSignal): ReadFile {
  const kept = new Map<string, Uint8Array>();
  let keptBytes = 0;
  return async (record, bytesMax) => {
    if (record === undefined || !isFileMode(record.mode) || record.size > bytesMax) return null;
    const known = kept.get(record.oid);
    if (known !== undefined) return known;
    const content = await readFileOf(context, record, bytesMax, signal);
    if (content !== null && keptBytes + content.length <= KEPT_BYTES_MAX) {
      kept.set(record.oid, content);
      keptBytes += content.length;
    }
    return content;
  };
}

function toFiles(
  { records, written }: Pick<DerivedTree, 'records' | 'written'>,
  readFile: ReadFile,
): TreeFiles {
  const files = new Map(records.map((record) => [record.path, record]));
  return {
    paths: [...files.keys()],
    readFile: async (path, bytesMax) => {
      const record = files.get(path);
      const content = written.get(record?.oid ?? '');
      if (record === undefined || content === undefined || !isFileMode(record.mode)) {
        return readFile(record, bytesMax);
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

import {
  CommitShaSchema,
  packTree,
  sha256Hex,
  type CommitSha,
  type TreeArchive,
  type TreeEntry,
} from '@kervyxa/core';
import { createIntakeError } from '../errors.ts';
import type { FetchedCommit, Intake, IntakeOutcome, IntakeRequest, TreeFault } from '../port.ts';
import { isLfsPointer, lfsFault, LFS_POINTER_BYTES_MAX, submoduleFaults } from '../tree/changes.ts';
import { compareTrees } from '../tree/compare.ts';
import { layoutProblem } from '../tree/layout.ts';
import { lintTree, newFaults, type LintedTree } from '../tree/lint.ts';
import { readCapture, writeCapture } from './fake-capture.ts';
import {
  isFileMode,
  MODE_EXECUTABLE,
  MODE_FILE,
  MODE_GITLINK,
  MODE_LINK,
  type TreeRecord,
} from '../tree/record.ts';

export type FakeFile =
  | string
  | Uint8Array
  | { readonly content: string | Uint8Array; readonly mode?: '100644' | '100755' }
  | { readonly symlink: string }
  | { readonly gitlink: string };

/** Path → file, the whole tree. */
export type FakeTree = Readonly<Record<string, FakeFile>>;

export interface FakeCommit {
  readonly tree: FakeTree;
  /** Ids of its parents, which `commits` must hold too. */
  readonly parents?: readonly string[];
  readonly message?: string;
}

export interface FakeIntakeOptions {
  /** Commit id → commit. Every repository URL serves all of them. */
  readonly commits: Readonly<Record<string, FakeCommit>>;
  /** Commit id → what a fetch of it ends with instead. */
  readonly outcomes?: Readonly<Record<string, Exclude<IntakeOutcome, { kind: 'fetched' }> | Error>>;
}

/** A commit id for a test to use: 40 hex digits made from a name. */
export function fakeCommitId(name: string): CommitSha {
  return CommitShaSchema.parse(sha256Hex(`commit ${name}`).slice(0, 40));
}

const SIZES = { fileBytesMax: 1_048_576, treeBytesMax: 16 * 1_048_576 };

/** An intake that answers from memory, by the same rules about trees as the one that fetches. */
export function createFakeIntake({ commits: served, outcomes = {} }: FakeIntakeOptions): Intake {
  const commits: Record<string, FakeCommit> = { ...served };
  const held = new Set<string>();
  const hold = async (
    [url, commit]: readonly [url: string, commit: string],
    capture: AsyncIterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<void> => {
    signal.throwIfAborted();
    if (held.has(`${url} ${commit}`)) return;
    Object.assign(commits, await readCapture(commit, capture));
    held.add(`${url} ${commit}`);
  };
  return {
    holdsBase: async ({ baseRepositoryUrl: url, baseCommit }) => held.has(`${url} ${baseCommit}`),
    holdsCommit: async ({ repositoryUrl: url, commit }) => held.has(`${url} ${commit}`),
    importBase: ({ baseRepositoryUrl: url, baseCommit }, capture, signal) =>
      hold([url, baseCommit], capture, signal),
    importCommit: ({ repositoryUrl: url, commit }, capture, signal) =>
      hold([url, commit], capture, signal),
    fetchCommit: async (request, signal) => {
      signal.throwIfAborted();
      const planned = outcomes[request.commit];
      if (planned instanceof Error) throw planned;
      const outcome = planned ?? fetchFake(commits, request);
      if (outcome.kind === 'fetched') {
        held.add(`${request.baseRepositoryUrl} ${request.baseCommit}`);
        held.add(`${request.repositoryUrl} ${request.commit}`);
      }
      return outcome;
    },
    openBase: async (repository, commit, signal) => {
      signal.throwIfAborted();
      const found = commits[commit];
      if (found === undefined) {
        throw createIntakeError('INTAKE_BASE_UNAVAILABLE', {
          message: `expected the base commit, but the repository has no commit ${commit}`,
        });
      }
      held.add(`${repository} ${commit}`);
      const tree = readTree(found.tree);
      return {
        commit,
        exportCapture: (to) => writeCapture(commits, commit, to),
        tree: tree.id,
        paths: tree.records.map(({ path }) => path),
        links: new Map(
          [...tree.links].flatMap(([path, target]) => (target === null ? [] : [[path, target]])),
        ),
        layoutProblem: layoutProblem(tree.records, tree.links),
        lfsPointers: async () =>
          [...tree.contents].flatMap(([path, content]) =>
            lfsFaults(path, content).length === 0 ? [] : [path],
          ),
        readFile: async (path, bytesMax) => {
          const record = tree.records.find((each) => each.path === path);
          if (record === undefined || !isFileMode(record.mode) || record.size > bytesMax) {
            return null;
          }
          return tree.contents.get(path) ?? null;
        },
        close: async () => undefined,
      };
    },
  };
}

function fetchFake(
  commits: FakeIntakeOptions['commits'],
  { commit, baseCommit }: IntakeRequest,
): IntakeOutcome {
  const [found, base] = [commits[commit], commits[baseCommit]];
  if (found === undefined || base === undefined) {
    const message = `the repository has no commit ${found === undefined ? commit : baseCommit}`;
    return { kind: 'unavailable', reason: 'COMMIT_NOT_FOUND', message };
  }
  const { records, links } = readTree(base.tree);
  const problem = layoutProblem(records, links);
  if (problem !== null && descends(commits, commit, baseCommit)) {
    const message = `the base can't be used: ${problem}`;
    return { kind: 'unavailable', reason: 'SETUP_FAILED_AT_BASE', message };
  }
  return { kind: 'fetched', source: toFetched(commits, commit, baseCommit, found, base) };
}

function toFetched(
  commits: FakeIntakeOptions['commits'],
  commit: CommitSha,
  baseCommit: CommitSha,
  found: FakeCommit,
  base: FakeCommit,
): FetchedCommit {
  const [tree, baseTree] = [readTree(found.tree), readTree(base.tree)];
  const isDescendant = descends(commits, commit, baseCommit);
  const changedFiles = isDescendant ? compareTrees(baseTree.records, tree.records) : [];
  const treeFaults: TreeFault[] = isDescendant
    ? [
        ...newFaults(lintTree(tree, SIZES), lintTree(baseTree, SIZES)),
        ...submoduleFaults(changedFiles),
        ...changedFiles
          .filter(({ path }) => !isSame(tree.contents.get(path), baseTree.contents.get(path)))
          .flatMap(({ path }) => lfsFaults(path, tree.contents.get(path))),
      ]
    : [];
  const archiveOf = (of: MemoryTree): TreeArchive => {
    if (!isDescendant) throw new TypeError('a commit beside the base has no archive');
    return toArchive(of);
  };
  return {
    commit,
    tree: tree.id,
    baseTree: baseTree.id,
    message: found.message ?? '',
    isDescendant,
    changedFiles,
    treeFaults,
    archive: () => {
      if (treeFaults.length > 0) throw new TypeError('a tree with faults has no archive');
      return archiveOf(tree);
    },
    baseArchive: () => archiveOf(baseTree),
    exportCapture: (to) => writeCapture(commits, commit, to),
    close: async () => undefined,
  };
}

function isSame(one: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  return one !== undefined && other !== undefined && Buffer.compare(one, other) === 0;
}

function lfsFaults(path: string, content: Uint8Array | undefined): TreeFault[] {
  if (content === undefined || content.length > LFS_POINTER_BYTES_MAX) return [];
  return isLfsPointer(content) ? [lfsFault(path)] : [];
}

function descends(commits: FakeIntakeOptions['commits'], commit: string, base: string): boolean {
  const seen = new Set<string>();
  for (let pending = [commit]; pending.length > 0;) {
    if (pending.includes(base)) return true;
    pending = pending.flatMap((id) => commits[id]?.parents ?? []).filter((id) => !seen.has(id));
    for (const id of pending) seen.add(id);
  }
  return false;
}

interface MemoryTree extends LintedTree {
  readonly id: string;
  /** By path; regular files only. */
  readonly contents: ReadonlyMap<string, Uint8Array>;
}

function readTree(files: FakeTree): MemoryTree {
  const contents = new Map<string, Uint8Array>();
  const links = new Map<string, string>();
  const records = Object.entries(files)
    .toSorted(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    .map(([path, file]): TreeRecord => {
      const { mode, bytes } = readFile(file);
      if (mode === MODE_LINK) links.set(path, bytes.toString());
      else if (mode !== MODE_GITLINK) contents.set(path, bytes);
      const size = mode === MODE_GITLINK ? 0 : bytes.length;
      return { path, isUtf8: true, mode, size, oid: sha256Hex(bytes).slice(0, 40) };
    });
  return { id: sha256Hex(JSON.stringify(records)).slice(0, 40), records, links, contents };
}

function readFile(file: FakeFile): { mode: string; bytes: Buffer } {
  if (typeof file === 'string' || file instanceof Uint8Array) {
    return { mode: MODE_FILE, bytes: Buffer.from(file) };
  }
  if ('symlink' in file) return { mode: MODE_LINK, bytes: Buffer.from(file.symlink) };
  if ('gitlink' in file) return { mode: MODE_GITLINK, bytes: Buffer.from(file.gitlink) };
  return { mode: file.mode ?? MODE_FILE, bytes: Buffer.from(file.content) };
}

function toArchive({ id, records, links, contents }: MemoryTree): TreeArchive {
  const entries = async function* (): AsyncGenerator<TreeEntry> {
    for (const { path, mode, size } of records) {
      if (mode === MODE_GITLINK) yield { type: 'folder', path };
      else if (mode === MODE_LINK) {
        yield { type: 'symlink', path, target: links.get(path) ?? '' };
      } else {
        const content = contents.get(path) ?? new Uint8Array();
        yield { type: 'file', path, executable: mode === MODE_EXECUTABLE, size, content };
      }
    }
  };
  return {
    digest: id,
    entryCount: records.length,
    bytesTotal: [...contents.values()].reduce((sum, { length }) => sum + length, 0),
    open: (signal) => packTree(entries(), signal),
  };
}

import { CommitShaSchema, sha256Hex, type CommitSha } from '@kervyxa/core';
import { createIntakeError } from '../errors.ts';
import type { FetchedCommit, Intake, IntakeOutcome, IntakeRequest, TreeFault } from '../port.ts';
import { isLfsPointer, lfsFault, LFS_POINTER_BYTES_MAX, submoduleFaults } from '../tree/changes.ts';
import { compareTrees } from '../tree/compare.ts';
import { deriveTree } from '../tree/derive.ts';
import { layoutProblem } from '../tree/layout.ts';
import { lintTree, newFaults } from '../tree/lint.ts';
import { readCapture, writeCapture } from './fake-capture.ts';
import {
  assertReadable,
  blobIdOf,
  contentsOf,
  readTree,
  toCandidate,
  toFiles,
  type FakeTree,
} from './memory-tree.ts';

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
        readFile: toFiles(tree).readFile,
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
  const read = {
    commit,
    message: found.message ?? '',
    exportCapture: (to: AbortSignal) => writeCapture(commits, commit, to),
    close: async () => undefined,
  };
  const own = { ...tree, changedFiles, treeFaults };
  return {
    ...read,
    ...toCandidate(read, { base: baseTree, isDescendant }, own),
    derive: (from, edits) => {
      assertReadable(isDescendant, treeFaults);
      const request = { base: baseTree, commit: tree, from, edits };
      const derived = deriveTree(request, blobIdOf, SIZES);
      const contents = contentsOf(derived, [baseTree, tree]);
      return toCandidate(read, { base: baseTree, isDescendant }, { ...derived, contents });
    },
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

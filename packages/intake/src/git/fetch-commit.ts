import { isAppError, type CommitSha, type SourceReason } from '@kervyxa/core';
import { layoutProblem } from '../tree/layout.ts';
import type { IntakeOutcome, IntakeRequest } from '../port.ts';
import { parseUrlOrThrow } from './address.ts';
import { withoutTrees, withTrees } from './candidate.ts';
import type { Capture, CaptureFailure } from './capture.ts';
import { readCommits } from './commit-object.ts';
import { exportCommit } from './export.ts';
import { inspect, readLinks, type KnownTree, type Links } from './inspect.ts';
import { listTree } from './listing.ts';
import { isMakersFault } from './intact.ts';
import { damaged, obtain, type IntakeTools } from './obtain.ts';
import { runGit, type GitContext } from './process.ts';
import { holdStores, type Hold } from './hold.ts';
import type { Store } from './store.ts';

/**
 * 1. Both URLs obey the policy.
 * 2. The base: from an earlier capture, or the requester's repository.
 * 3. The commit: from an earlier capture of this URL, or the solver's repository, on top of the base.
 * 4. Ancestry, then the trees within limits, then their difference and its faults.
 */
export async function fetchCommit(
  tools: IntakeTools,
  request: IntakeRequest,
  signal: AbortSignal,
): Promise<IntakeOutcome> {
  const baseUrl = parseUrlOrThrow(request.baseRepositoryUrl, tools.allowedOrigins);
  const url = parseUrlOrThrow(request.repositoryUrl, tools.allowedOrigins);
  const base = await obtain(tools, baseUrl, request.baseCommit, null, signal);
  // No solver can make the requester's history smaller.
  if (base.kind === 'failed' && base.why === 'too_large') return unusableBase(base.message);
  const seed = base.kind === 'captured' ? base.store : null;
  const solver = await obtain(tools, url, request.commit, seed, signal);
  if (solver.kind === 'failed') {
    // Fetched without the base, the bytes that are too many may be the requester's as well.
    if (base.kind === 'failed' && solver.why === 'too_large') return withoutBase(base.message);
    return toOutcome(solver);
  }
  const held = seed === null ? [solver.store] : [solver.store, seed];
  const hold = holdStores(tools.stores, held);
  try {
    const outcome = await judge(tools, held, request, hold, signal);
    if (outcome.kind === 'fetched') return outcome;
    hold.release();
    if (outcome.kind !== 'without_base') return outcome;
    return withoutBase(base.kind === 'failed' ? base.message : 'it is not there');
  } catch (error) {
    hold.release();
    signal.throwIfAborted();
    if (isAppError(error)) throw error;
    if (await isMakersFault(error, held)) {
      const message = 'the commit has objects that git can not read within its limits';
      return { kind: 'refused', reason: 'SOURCE_TOO_LARGE', message };
    }
    throw await damaged(tools, held, error);
  }
}

const REASONS: Readonly<Record<Exclude<CaptureFailure, 'too_large'>, SourceReason>> = {
  unreachable: 'REPOSITORY_UNREACHABLE',
  not_found: 'COMMIT_NOT_FOUND',
  not_a_commit: 'COMMIT_NOT_FOUND',
  incomplete: 'ANCESTRY_UNKNOWN',
};

function toOutcome({ why, message }: Capture & { kind: 'failed' }): IntakeOutcome {
  if (why === 'too_large') return { kind: 'refused', reason: 'SOURCE_TOO_LARGE', message };
  return unavailable(REASONS[why], message);
}

type Unavailable = IntakeOutcome & { readonly kind: 'unavailable' };

function unavailable(reason: SourceReason, message: string): Unavailable {
  return { kind: 'unavailable', reason, message };
}

function withoutBase(why: string): Unavailable {
  return unavailable('REPOSITORY_UNREACHABLE', `the base commit can't be had: ${why}`);
}

/** The contract's fault: it is the same for every solver and at every try. */
function unusableBase(why: string): Unavailable {
  const message = `the base can't be used: ${why}`;
  return { kind: 'unavailable', reason: 'SETUP_FAILED_AT_BASE', message };
}

async function judge(
  tools: IntakeTools,
  held: readonly Store[],
  request: IntakeRequest,
  hold: Hold,
  signal: AbortSignal,
): Promise<IntakeOutcome | { readonly kind: 'without_base' }> {
  const { limits, stores } = tools;
  const { commit, baseCommit } = request;
  // The commit may have been captured on top of another base, or of none: both stores are read as one.
  const [gitDir = '', ...alternates] = held.map(({ folder }) => folder);
  const context = { gitDir, alternates, home: stores.home, limits, remote: null };
  if (alternates.length === 0) {
    // Without a base of the requester's own, the solver's history must hold it; ids name content.
    const present = await runGit(context, ['cat-file', '-e', baseCommit], signal);
    if (present.exitCode !== 0) return { kind: 'without_base' };
  }
  const [[facts, baseFacts], isDescendant] = await Promise.all([
    readCommits(context, [commit, baseCommit], signal),
    isAncestor(context, baseCommit, commit, signal),
  ]);
  if (!facts || !baseFacts) {
    return unavailable('COMMIT_NOT_FOUND', 'the commit or its base is no commit that can be read');
  }
  const read = {
    commit,
    tree: facts.tree,
    baseTree: baseFacts.tree,
    message: facts.message,
    exportCapture: (to: AbortSignal) => exportCommit(tools, { context, held, request }, to),
    close: () => {
      hold.release();
      return Promise.resolve();
    },
  };
  if (isDescendant === null) {
    return unavailable('ANCESTRY_UNKNOWN', 'the history between base and commit is incomplete');
  }
  if (!isDescendant) return { kind: 'fetched', source: withoutTrees(read) };
  const [base, listed] = await Promise.all([
    readBaseTree(context, baseFacts.tree, signal).catch(async (error: unknown) => {
      signal.throwIfAborted();
      if (await isMakersFault(error, held)) return 'git can not read it within its limits';
      throw error;
    }),
    // What is wrong with the base is said first.
    listTree(context, facts.tree, limits, signal).catch((error: unknown) => ({
      kind: 'failed' as const,
      error,
    })),
  ]);
  if (typeof base === 'string') return unusableBase(base);
  if (listed.kind === 'failed') throw listed.error;
  if (listed.kind === 'too_large') {
    return { kind: 'refused', reason: 'SOURCE_TOO_LARGE', message: listed.message };
  }
  const tree = { id: facts.tree, records: listed.records };
  const inspection = await inspect(context, base, tree, signal);
  const content = { context, base, signal };
  return { kind: 'fetched', source: withTrees(read, content, tree, inspection) };
}

/** The base as it is laid out; else why it can't be, as a sentence. */
async function readBaseTree(
  context: GitContext,
  id: string,
  signal: AbortSignal,
): Promise<(KnownTree & { readonly links: Links }) | string> {
  const listed = await listTree(context, id, context.limits, signal);
  if (listed.kind === 'too_large') return listed.message;
  const { records } = listed;
  const links = await readLinks(context, records, signal);
  return layoutProblem(records, links) ?? { id, records, links };
}

/** `git merge-base` answers 0 for yes and 1 for no; anything else is no answer (THREATS G17). */
async function isAncestor(
  context: GitContext,
  base: CommitSha,
  commit: CommitSha,
  signal: AbortSignal,
): Promise<boolean | null> {
  const argv = ['merge-base', '--is-ancestor', base, commit];
  const { exitCode } = await runGit(context, argv, signal);
  if (exitCode === 0) return true;
  return exitCode === 1 ? false : null;
}

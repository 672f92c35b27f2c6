import { isAppError, type CommitSha } from '@kervyxa/core';
import { createIntakeError } from '../errors.ts';
import type { IntakeRequest } from '../port.ts';
import { writeBundleHeader, type BundleHeader } from './bundle.ts';
import { isMakersFault } from './intact.ts';
import { damaged, type IntakeTools } from './obtain.ts';
import { LimitReached, streamGit, toReadError, type GitContext } from './process.ts';
import type { Store } from './store.ts';

export interface JudgedCommit {
  readonly context: GitContext;
  /** The commit's store, and the base's where there is one. */
  readonly held: readonly Store[];
  readonly request: IntakeRequest;
}

/** The bundle of a commit; on its base, unless that is had from the solver's own history only. */
export async function* exportCommit(
  tools: IntakeTools,
  { context, held, request: { commit, baseCommit } }: JudgedCommit,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const base = held.length > 1 ? baseCommit : null;
  try {
    yield* exportBundle(context, { commit, base }, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (isAppError(error)) throw error;
    if (!(await isMakersFault(error, held))) throw await damaged(tools, held, error);
    throw createIntakeError('INTAKE_CAPTURE_TOO_LARGE', {
      message: `expected a commit that can be captured within the limits, but ${commit} can't be`,
      fix: 'submit a commit with a smaller history on top of the base',
      cause: error,
    });
  }
}

/**
 * Writes a commit with its history as a bundle; with a base, without what the base's history has. Every delta is one
 * that some server sent, and none is looked for: that costs next to no time, and a store gives the same bytes again.
 *
 * Throws LimitReached or ReadFailed. A pack can hold deltas of an object that only the base has; writing such an
 * object whole, again and again, is what the limits end.
 */
export async function* exportBundle(
  context: GitContext,
  header: BundleHeader,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const argv = ['pack-objects', '-q', '--stdout', '--revs', '--thin', '--delta-base-offset'];
  const git = streamGit(unhurried(context), [...argv, '--window=0', '--threads=1'], signal);
  git.stdin.end(revisions(header.commit, header.base));
  try {
    yield writeBundleHeader(header);
    let bytes = 0;
    for await (const piece of git.stdout as AsyncIterable<Buffer>) {
      bytes += piece.length;
      if (bytes > context.limits.packBytesMax) throw new LimitReached(new Error('too many bytes'));
      yield piece;
    }
    const end = await git.ended;
    signal.throwIfAborted();
    if (end.exitCode !== 0) throw toReadError(new Error('expected pack-objects to end well'), end);
  } finally {
    git.kill();
    git.stdout.destroy();
    await git.ended;
  }
}

function revisions(commit: CommitSha, base: CommitSha | null): string {
  return base === null ? `${commit}\n` : `${commit}\n^${base}\n`;
}

const UNHURRIED_SECONDS = 3_600;

/** How long git waits for whoever is at the other end is no fault of the commit; its own work is bounded as ever. */
export function unhurried(context: GitContext): GitContext {
  return { ...context, limits: { ...context.limits, gitWallSecondsMax: UNHURRIED_SECONDS } };
}

import { text } from 'node:stream/consumers';
import { toPrintable, type CommitSha } from '@kervyxa/core';
import { createIntakeError } from '../errors.ts';
import { orAborted } from './abort.ts';
import { splitBundle } from './bundle.ts';
import { createStore } from './capture.ts';
import { checkComplete } from './complete.ts';
import { TOLERATED_IN_HISTORY } from './environment.ts';
import { unhurried } from './export.ts';
import { largestFetch, type IntakeTools } from './obtain.ts';
import { holdStores } from './hold.ts';
import { runGit, streamGit, type GitContext, type GitStream } from './process.ts';
import { prune } from './prune.ts';
import { COMMIT_REF, type Store } from './store.ts';
import type { RepositoryUrl } from './url-policy.ts';

export interface ImportTarget {
  readonly url: RepositoryUrl;
  readonly commit: CommitSha;
  /** The store that the capture may build on. */
  readonly base: Store | null;
}

/**
 * Makes a capture the store of a commit from a URL, unless there is one: unpacked under the limits and checks of a
 * fetch into an attempt of its own, and published when it is complete.
 *
 * Throws INTAKE_CAPTURE_DAMAGED, INTAKE_DISK_FULL, INTAKE_GIT_UNAVAILABLE, and what reading the capture throws.
 */
export async function importCapture(
  tools: IntakeTools,
  target: ImportTarget,
  capture: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  const { stores, limits, clock } = tools;
  const { url, commit, base } = target;
  const task = async (): Promise<void> => {
    if ((await stores.find(url.href, commit)) !== null) return;
    await prune(stores, limits, clock.now().getTime());
    await stores.checkRoom(largestFetch(limits));
    const hold = holdStores(stores, base === null ? [] : [base]);
    const attempt = stores.newAttempt();
    try {
      const context = { gitDir: attempt, home: stores.home, limits, remote: null };
      await createStore(context, base, signal);
      const problem = await fill(context, target, capture, signal);
      if (problem !== null) {
        await stores.checkRoom();
        throw damagedCapture(commit, problem);
      }
      const seeds = base === null ? [] : [base.folder, ...base.seeds];
      await stores.publish(attempt, { url: url.href, commit, seeds });
    } finally {
      hold.release();
      await stores.discard(attempt);
    }
  };
  await tools.inTurn(`${url.href} ${commit}`, task, signal);
}

/** Null where the commit is complete in the store; else what is wrong with the capture, as a clause. */
async function fill(
  context: GitContext,
  { commit, base }: ImportTarget,
  capture: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<string | null> {
  const pieces = untilAborted(capture, signal);
  try {
    const expected = { commit, base: base?.commit ?? null };
    const { header, rest } = await splitBundle(pieces, expected);
    if (header === null) return 'it does not begin as a capture of this commit on its base does';
    if (!(await unpack(context, rest, pieces, signal))) return 'git can not unpack it whole';
  } finally {
    await pieces.return(undefined);
  }
  await runGit(context, ['update-ref', COMMIT_REF, commit], signal);
  const trouble = await checkComplete(context, commit, signal);
  return trouble?.kind === 'failed' ? trouble.message : null;
}

/**
 * True where git took a whole pack and nothing else, whose objects are sound, and link only to what is there. Bytes,
 * objects, memory and time are bounded as for a server's pack, by the guard.
 */
async function unpack(
  context: GitContext,
  first: Uint8Array,
  pieces: AsyncGenerator<Uint8Array>,
  signal: AbortSignal,
): Promise<boolean> {
  // By hand, because git's own reading of bundles leaves the checks out before 2.41.
  const tolerated = TOLERATED_IN_HISTORY.map((id) => `${id}=ignore`).join(',');
  const argv = ['index-pack', '--stdin', '--fix-thin', `--strict=${tolerated}`];
  const git = streamGit(unhurried(context), argv, signal);
  try {
    const said = text(git.stdout);
    const isTaken = await feed(git, first, pieces);
    const [output, { exitCode }] = [await said, await git.ended];
    signal.throwIfAborted();
    // Git repeats on its output what comes after the pack.
    return isTaken && exitCode === 0 && /^pack\t[0-9a-f]{40}\n$/.test(output);
  } finally {
    git.kill();
    await git.ended;
  }
}

/**
 * False where git ended while there was more to come. One that ends at the last piece may be gone before we are told
 * that it was written: whether it read all of it, its exit status says.
 */
async function feed(
  { stdin }: GitStream,
  first: Uint8Array,
  pieces: AsyncGenerator<Uint8Array>,
): Promise<boolean> {
  for (let piece = first; ;) {
    if (piece.length > 0) {
      if (stdin.destroyed) return false;
      const written = piece;
      // Also called with an error once git is gone.
      await new Promise<void>((resolve) => stdin.write(written, () => resolve()));
    }
    const next = await pieces.next();
    if (next.done === true) break;
    piece = next.value;
  }
  stdin.end();
  return true;
}

/** The pieces; an aborted signal ends the wait for the next. */
async function* untilAborted(
  pieces: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const source = pieces[Symbol.asyncIterator]();
  let isOver = false;
  try {
    for (;;) {
      const next = await orAborted(source.next(), signal);
      isOver = next.done === true;
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    // Not awaited: a source that hangs would take its time over this too.
    if (!isOver) void source.return?.().catch(() => undefined);
  }
}

function damagedCapture(commit: CommitSha, problem: string): Error {
  return createIntakeError('INTAKE_CAPTURE_DAMAGED', {
    message: `expected the whole capture of ${commit}, but ${toPrintable(problem, 300)}`,
    fix: 'look at where captures are kept; a capture of a commit needs its base to be imported first',
  });
}

import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock, CommitSha } from '@kervyxa/core';
import type { Endpoint } from './address.ts';
import { openGateway, type Gateway } from './gateway.ts';
import type { IntakeLimits } from './limits.ts';
import { checkComplete, failed, INCOMPLETE } from './complete.ts';
import { describeObject } from './objects.ts';
import { runGit, type GitContext, type GitResult } from './process.ts';
import { listTips } from './remote-refs.ts';
import { COMMIT_REF, SEEDS_MAX, type Store, type StoreFolder } from './store.ts';

export type CaptureFailure =
  'unreachable' | 'not_found' | 'not_a_commit' | 'incomplete' | 'too_large';

export type Capture =
  | { readonly kind: 'captured'; readonly store: Store }
  | { readonly kind: 'failed'; readonly why: CaptureFailure; readonly message: string };

export interface CaptureTools {
  readonly stores: StoreFolder;
  readonly limits: IntakeLimits;
  readonly clock: Clock;
}

/**
 * Fetches one commit with its whole history from one URL into a store of its own, on top of `seed`'s objects, and
 * publishes it when it is complete. Whatever goes wrong on the other side is a `failed` value.
 *
 * A success proves that this URL served the commit: a fetch of what the seed already has would succeed without asking
 * for anything (THREATS G11), so such a seed is left out, unless all of it came from this very URL.
 */
export async function capture(
  tools: CaptureTools,
  endpoint: Endpoint,
  commit: CommitSha,
  seed: Store | null,
  signal: AbortSignal,
): Promise<Capture> {
  const { stores, limits, clock } = tools;
  const attempt = stores.newAttempt();
  const gateway = await openGateway(endpoint, limits);
  try {
    const context = { gitDir: attempt, home: stores.home, limits, remote: gateway.url };
    const usable = await usableSeed(context, endpoint, commit, seed, signal);
    await createStore(context, usable, signal);
    const trouble =
      (await fetchCommit(tools, { context, gateway, clock }, commit, signal)) ??
      (await checkComplete(context, commit, signal));
    if (trouble !== null) {
      await stores.checkRoom();
      return trouble;
    }
    const seeds = usable === null ? [] : [usable.folder, ...usable.seeds];
    const facts = { url: endpoint.url.href, commit, seeds };
    return { kind: 'captured', store: await stores.publish(attempt, facts) };
  } finally {
    await gateway.close();
    await stores.discard(attempt);
  }
}

/** A fetch into a store, and what it goes through. */
interface Fetch {
  readonly context: GitContext;
  readonly gateway: Gateway;
  readonly clock: Clock;
}

async function usableSeed(
  context: GitContext,
  endpoint: Endpoint,
  commit: CommitSha,
  seed: Store | null,
  signal: AbortSignal,
): Promise<Store | null> {
  if (seed === null || seed.seeds.length >= SEEDS_MAX) return null;
  // What a store builds on may be from elsewhere, though the store itself is from here.
  const isFromHere = [seed.folder, ...seed.seeds].every(
    (folder) => dirname(folder) === dirname(seed.folder),
  );
  if (seed.url === endpoint.url.href && isFromHere) return seed;
  const inSeed = { ...context, gitDir: seed.folder, remote: null };
  const { exitCode } = await runGit(inSeed, ['cat-file', '-e', commit], signal);
  return exitCode === 0 ? null : seed;
}

/** An empty repository on top of `seed`'s objects. */
export async function createStore(
  context: GitContext,
  seed: Store | null,
  signal: AbortSignal,
): Promise<void> {
  const local = { ...context, remote: null };
  const { exitCode } = await runGit(local, ['init', '-q', '--bare', '--template='], signal);
  if (exitCode !== 0) throw new Error('expected git init to make a repository');
  if (seed === null) return;
  // Git tells the server of the seed's own ref, so that only what is new is sent.
  await mkdir(join(context.gitDir, 'objects/info'), { recursive: true });
  await writeFile(join(context.gitDir, 'objects/info/alternates'), `${seed.folder}/objects\n`);
}

/** Null where the commit, or whatever has its id, has arrived. */
async function fetchCommit(
  tools: CaptureTools,
  fetch: Fetch,
  commit: CommitSha,
  signal: AbortSignal,
): Promise<Capture | null> {
  const { context, gateway } = fetch;
  const left = countDown(tools);
  const exact = await fetchInto(left(), fetch, [`${commit}:${COMMIT_REF}`], signal);
  if (exact === 'done') return null;
  if (exact !== 'failed') return exact;
  // Protocol version 0, and some servers of version 2, give out only what a ref points to (THREATS G12, BUG-44).
  const tips = await listTips({ ...context, limits: left() }, signal);
  if (tips === null) return failed('unreachable', whyFailed(gateway));
  // Their ids and no names: a server can list a million names, and each would be a file of ours.
  const refs = tips.length === 0 ? 'done' : await fetchInto(left(), fetch, tips, signal);
  if (refs === 'failed') {
    // A pack that git takes, and whose history it then does not find whole, is there none the less.
    const found = await describeObject({ ...context, remote: null }, commit, signal);
    return found === null ? failed('unreachable', whyFailed(gateway)) : INCOMPLETE;
  }
  // Too much behind other refs says nothing about this commit.
  if (refs !== 'done') return failed('not_found', `the server does not give out ${commit}`);
  return adopt(context, commit, signal);
}

function whyFailed({ trouble }: Gateway): string {
  return trouble ?? 'the repository could not be fetched';
}

/** Takes the commit from among what the refs brought. */
async function adopt(
  context: GitContext,
  commit: CommitSha,
  signal: AbortSignal,
): Promise<Capture | null> {
  const local = { ...context, remote: null };
  const found = await describeObject(local, commit, signal);
  if (found === null) return failed('not_found', `the repository has no commit ${commit}`);
  if (found.type !== 'commit') return null;
  // Git checked that what the refs reach is complete; the commit may lie outside of that.
  const argv = ['rev-list', '--objects', '--quiet', commit, '--not', '--alternate-refs'];
  const walked = await runGit(local, argv, signal);
  if (walked.exitCode !== 0) return INCOMPLETE;
  await runGit(local, ['update-ref', COMMIT_REF, commit], signal);
  return null;
}

/** The limits, with what is left of the time at each call: a server has it once, and not for each question. */
function countDown({ limits, clock }: CaptureTools): () => IntakeLimits {
  const started = clock.monotonicMs();
  return () => {
    const spent = Math.floor((clock.monotonicMs() - started) / 1_000);
    return { ...limits, gitWallSecondsMax: Math.max(1, limits.gitWallSecondsMax - spent) };
  };
}

async function fetchInto(
  limits: IntakeLimits,
  { context, gateway, clock }: Fetch,
  refspecs: readonly string[],
  signal: AbortSignal,
): Promise<'done' | 'failed' | Capture> {
  const started = clock.monotonicMs();
  const flags = [
    '-q',
    '--no-tags',
    '--no-recurse-submodules',
    '--no-auto-gc',
    '--no-write-fetch-head',
  ];
  const argv = ['fetch', ...flags, '--', gateway.url, ...refspecs];
  const result = await runGit({ ...context, limits }, argv, signal);
  if (result.exitCode === 0) return 'done';
  const seconds = (clock.monotonicMs() - started) / 1_000;
  if (seconds >= limits.gitWallSecondsMax) {
    const { gitWallSecondsMax } = context.limits;
    return failed('unreachable', `the server took more than ${gitWallSecondsMax} seconds`);
  }
  if (seconds >= limits.stallSecondsMax && isStalled(result)) {
    return failed('unreachable', 'the server sent next to nothing for too long');
  }
  if (gateway.isFlooded) return failed('too_large', 'the server sent more bytes than are allowed');
  if (!gateway.isReached) return failed('unreachable', whyFailed(gateway));
  if (diedOfLimit(result) || (await hasFullPack(context.gitDir, limits.packBytesMax))) {
    return failed('too_large', 'git went beyond its limits of memory, time or bytes on this pack');
  }
  return 'failed';
}

/** 128 and the signal: abort, kill, segmentation (a stack that overflows), processor time, file size. */
const DEATHS_BY_LIMIT = new Set([134, 137, 139, 152, 153]);

/**
 * True where git, or the helper that unpacks, was stopped by a limit of ours. Git tells it in words only. The server's
 * lines begin with `remote:`, or with `fatal: remote error:` where it gives up: its memory that has run out is trouble
 * of a host and no fault of the commit. One that forges these words refuses nothing but its own submission.
 */
function diedOfLimit({ exitCode, stderr }: GitResult): boolean {
  if (exitCode === null || DEATHS_BY_LIMIT.has(exitCode)) return true;
  return /^(?:fatal|error): (?!remote error).*(?:out of memory|cannot allocate memory|died of signal (?:9|11|24|25)|file too large)/im.test(
    stderr,
  );
}

function isStalled({ stderr }: GitResult): boolean {
  return /^(?:fatal|error): .*(?:too slow|timed out)/im.test(stderr);
}

/** A pack that stopped growing at the limit was cut off there. */
async function hasFullPack(gitDir: string, packBytesMax: number): Promise<boolean> {
  const folder = join(gitDir, 'objects/pack');
  for (const name of await readdir(folder)) {
    if ((await stat(join(folder, name))).size >= packBytesMax) return true;
  }
  return false;
}

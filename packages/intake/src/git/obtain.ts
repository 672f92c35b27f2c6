import { toPrintable, type CommitSha } from '@kervyxa/core';
import { createIntakeError } from '../errors.ts';
import { locate, type ResolveHost } from './address.ts';
import { capture, type Capture, type CaptureTools } from './capture.ts';
import type { IntakeLimits } from './limits.ts';
import { prune } from './prune.ts';
import type { Store } from './store.ts';
import type { InTurn } from './turns.ts';
import type { RepositoryUrl } from './url-policy.ts';

export interface IntakeTools extends CaptureTools {
  readonly allowedOrigins: readonly string[];
  readonly resolveHost: ResolveHost;
  /** Runs tasks of one key one after another, so that a large base is fetched once and not by every submission. */
  readonly inTurn: InTurn;
}

/** The store of a commit from a URL: captured before, or captured now. */
export async function obtain(
  tools: IntakeTools,
  url: RepositoryUrl,
  commit: CommitSha,
  seed: Store | null,
  signal: AbortSignal,
): Promise<Capture> {
  const { stores } = tools;
  const task = async (): Promise<Capture> => {
    const known = await stores.find(url.href, commit);
    if (known !== null) return { kind: 'captured', store: known };
    const endpoint = await locate(url, tools, signal);
    if (endpoint === null) {
      const message = `the host ${toPrintable(url.host, 200)} has no address`;
      return { kind: 'failed', why: 'unreachable', message };
    }
    const best = seed ?? (await stores.findSeed(url.href));
    await prune(stores, tools.limits, tools.clock.now().getTime());
    await stores.checkRoom(largestFetch(tools.limits));
    return capture(tools, endpoint, commit, best, signal);
  };
  return tools.inTurn(`${url.href} ${commit}`, task, signal);
}

/**
 * Bytes that one fetch may write: a pack and its index. Without room for them whoever sends as much as is allowed could
 * fill the disk, and what is too large would be an error of ours.
 */
export function largestFetch({ packBytesMax }: Pick<IntakeLimits, 'packBytesMax'>): number {
  return 2 * packBytesMax;
}

/**
 * The stores were complete, and nothing larger than the limits is ever read, so a failure to read is the disk's and no
 * answer about the commit. The next try fetches anew.
 */
export async function damaged(
  { stores }: IntakeTools,
  held: readonly Store[],
  cause: unknown,
): Promise<Error> {
  for (const store of held) await stores.remove(store.folder);
  return createIntakeError('INTAKE_STORE_DAMAGED', {
    message: 'expected to read a captured commit, got a damaged repository',
    fix: 'run it again; look at the disk if this comes back',
    cause,
  });
}

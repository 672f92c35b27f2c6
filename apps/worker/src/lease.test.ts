import type { LeasedJob } from '@kervyxa/db';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LeaseLost, WorkerStopped } from './jobs/job.ts';
import { withLease } from './lease.ts';

const LEASE_MS = 30_000;
/** Time as the faked timers have it. */
const clock = { now: () => new Date(), monotonicMs: () => Date.now() };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function jobThat(beat: () => Promise<boolean>): LeasedJob {
  const nothing = async () => undefined;
  const ends = { complete: nothing, giveBack: nothing, putBack: nothing };
  return { id: 'job', subjectId: 'run_1', tries: 0, beat, ...ends };
}

/** Work that ends only by its signal; resolves with the signal's reason. */
function untilAborted(signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(signal.reason), { once: true });
  });
}

// Keeps R-WORKER-FENCE.
describe('a lease', () => {
  const never = new AbortController().signal;

  it('is extended as long as the work goes on, and no longer', async () => {
    let beats = 0;
    const job = jobThat(async () => (beats += 1) > 0);
    const { promise, resolve } = Promise.withResolvers<string>();
    const work = withLease(job, { leaseMs: LEASE_MS, clock, signal: never }, () => promise);
    await vi.advanceTimersByTimeAsync(2 * LEASE_MS);
    expect(beats).toBe(6);
    resolve('done');
    expect(await work).toBe('done');
    await vi.advanceTimersByTimeAsync(LEASE_MS);
    expect(beats).toBe(6);
  });

  it('that another worker has ends the work at once', async () => {
    const options = { leaseMs: LEASE_MS, clock, signal: never };
    const ended = withLease(
      jobThat(async () => false),
      options,
      untilAborted,
    );
    await vi.advanceTimersByTimeAsync(LEASE_MS / 3);
    expect(await ended).toBeInstanceOf(LeaseLost);
  });

  it('outlives a database that restarts, and not one that stays away', async () => {
    let isAway = true;
    const job = jobThat(async () => {
      if (isAway) throw new Error('no database');
      return true;
    });
    const ended = withLease(job, { leaseMs: LEASE_MS, clock, signal: never }, untilAborted);
    const watch = vi.fn<() => void>();
    void ended.then(watch);
    await vi.advanceTimersByTimeAsync((LEASE_MS * 2) / 3);
    isAway = false;
    await vi.advanceTimersByTimeAsync(LEASE_MS);
    expect(watch).not.toHaveBeenCalled();
    isAway = true;
    await vi.advanceTimersByTimeAsync(2 * LEASE_MS);
    expect(await ended).toBeInstanceOf(LeaseLost);
  });

  it('ends with a database that takes the question and never answers', async () => {
    const job = jobThat(() => Promise.withResolvers<boolean>().promise);
    const ended = withLease(job, { leaseMs: LEASE_MS, clock, signal: never }, untilAborted);
    await vi.advanceTimersByTimeAsync(LEASE_MS);
    expect(await ended).toBeInstanceOf(LeaseLost);
  });

  it('passes on the worker’s own wish to stop', async () => {
    const stopping = new AbortController();
    const options = { leaseMs: LEASE_MS, clock, signal: stopping.signal };
    const ended = withLease(
      jobThat(async () => true),
      options,
      untilAborted,
    );
    stopping.abort(new WorkerStopped('stopped'));
    expect(await ended).toBeInstanceOf(WorkerStopped);
  });
});

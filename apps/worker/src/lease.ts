import type { LeasedJob } from '@kervyxa/db';
import type { Clock } from '@kervyxa/core';
import { LeaseLost } from './jobs/job.ts';

export interface LeaseOptions {
  readonly leaseMs: number;
  readonly clock: Clock;
  /** The worker's own wish to end the work. */
  readonly signal: AbortSignal;
}

/** Beats this many times within a lease, so that one that fails or is late costs nothing. */
const BEATS = 3;

/**
 * Does work on a job as long as the lease holds. The work's signal is aborted with LeaseLost as soon as it is known to
 * have ended, or the database did not say so for the length of a lease; with the reason of `signal` where that comes.
 */
export async function withLease<T>(
  job: LeasedJob,
  { leaseMs, clock, signal }: LeaseOptions,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const lost = new AbortController();
  let heldSinceMs = clock.monotonicMs();
  let isBeating = false;
  const look = (isHeld: boolean | null): void => {
    if (isHeld !== false && clock.monotonicMs() - heldSinceMs < leaseMs) return;
    lost.abort(new LeaseLost(`the lease of job ${job.id} has ended`));
  };
  const beat = async (): Promise<void> => {
    // The answer to the last one may never come.
    if (isBeating) return look(null);
    isBeating = true;
    const askedMs = clock.monotonicMs();
    // What keeps the database from answering may pass; the lease outlives it, or not.
    const isHeld = await job.beat().catch(() => null);
    isBeating = false;
    if (isHeld === true) heldSinceMs = askedMs;
    look(isHeld);
  };
  const timer = setInterval(() => void beat(), leaseMs / BEATS);
  try {
    return await work(AbortSignal.any([signal, lost.signal]));
  } finally {
    clearInterval(timer);
  }
}

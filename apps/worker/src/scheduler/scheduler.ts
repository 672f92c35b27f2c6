import type { Database } from '@kervyxa/db';
import type { PayoutRail } from '../payouts/rail.ts';
import { sendDuePayouts } from '../payouts/send-due.ts';
import { createWaitingWarning } from '../payouts/waiting-warning.ts';
import { advanceChecks } from './advance-checks.ts';
import { advanceDue } from './advance-due.ts';
import { startNudge, type Log } from './nudge.ts';

const DAY_MS = 86_400_000;
/** An Idempotency-Key answers repeats for that long. */
const ANSWERS_KEPT_MS = 7 * DAY_MS;
/** An upload that has not ended by then never will, and what was saved for an approval has been named or never will be. */
const BLOBS_KEPT_MS = DAY_MS;
const FORGET_BATCH = 1_000;
/** Each may have hundreds of megabytes. */
const FORGET_BLOBS_BATCH = 50;
const RESEND_BATCH = 100;

export const PATTERNS = {
  advance: '*/2 * * * * *',
  checks: '*/2 * * * * *',
  payouts: '*/2 * * * * *',
  reap: '*/15 * * * * *',
  resend: '41 * * * * *',
  forget: '17 */10 * * * *',
} as const;

export interface SchedulerOptions {
  readonly database: Pick<Database, 'cases' | 'checkers' | 'payouts' | 'queue' | 'upkeep'>;
  /** Null: nothing is sent. What is due all the same, from when there was a rail, waits and is told of. */
  readonly rail: PayoutRail | null;
  readonly log: Log;
}

export interface Scheduler {
  /** Begins nothing more, waits for what runs. Safe twice. */
  stop(): Promise<void>;
}

/**
 * Nudges what time alone brings. It decides nothing and remembers only what it has said: any number may run, in any
 * number of processes, and ticks that are missed, early, doubled or at once change nothing but how soon it happens.
 */
export function startScheduler({ database, rail, log }: SchedulerOptions): Scheduler {
  const stopping = new AbortController();
  const { signal } = stopping;
  const { cases, checkers, payouts, queue, upkeep } = database;
  const jobs: Record<keyof typeof PATTERNS, () => Promise<void>> = {
    advance: () => advanceDue(cases, { log, signal }),
    checks: () => advanceChecks(checkers.work, { log, signal }),
    payouts:
      rail === null
        ? createWaitingWarning(payouts, log)
        : () => sendDuePayouts(payouts, rail, { log, signal }),
    reap: () => queue.reap(),
    resend: async () => {
      const count = await upkeep.resendLost(RESEND_BATCH);
      if (count > 0) log.warn({ count }, 'the queue had lost jobs: sent again');
    },
    forget: async () => {
      await upkeep.forgetAnswers(ANSWERS_KEPT_MS, FORGET_BATCH);
      await upkeep.forgetHalfBlobs(BLOBS_KEPT_MS, FORGET_BATCH);
      await upkeep.forgetUnusedBlobs(BLOBS_KEPT_MS, FORGET_BLOBS_BATCH);
    },
  };
  const nudges = (Object.keys(PATTERNS) as (keyof typeof PATTERNS)[]).map((name) =>
    startNudge({ name, pattern: PATTERNS[name], work: jobs[name], log }),
  );
  return {
    stop: async () => {
      stopping.abort();
      await Promise.all(nudges.map((nudge) => nudge.stop()));
    },
  };
}

import { setTimeout as delay } from 'node:timers/promises';
import type { LeasedJob, Queue, QueueName } from '@kervyxa/db';
import type { Health } from './health.ts';
import type { Log } from './scheduler/nudge.ts';
import { until } from './until.ts';

export interface TakeLoopOptions {
  readonly queue: Queue;
  readonly name: QueueName;
  /** How many jobs it does side by side. */
  readonly slots: number;
  readonly health: Pick<Health, 'whenWell' | 'problem'>;
  /** Never rejects. */
  readonly work: (job: LeasedJob) => Promise<void>;
  readonly log: Log;
}

/** Jobs also come without a hint: delayed ones, and those whose hint was lost. */
const LOOK_EVERY_MS = 1_000;

/** Takes jobs and does them, while this machine is well, until the signal is aborted; then ends those that it has. */
export async function runTakeLoop(options: TakeLoopOptions, signal: AbortSignal): Promise<void> {
  const { queue, name, slots, health, work } = options;
  const take = createTake(options);
  const running = new Set<Promise<void>>();
  let hint = Promise.withResolvers<void>();
  const stopListening = queue.onReady(name, () => hint.resolve());
  const begin = (job: LeasedJob): void => {
    const done = work(job).finally(() => {
      running.delete(done);
      // What it has ended another job of its subject may have waited for.
      hint.resolve();
    });
    running.add(done);
  };
  try {
    while (!signal.aborted) {
      await health.whenWell(signal);
      // Before the look: a hint that comes while we look is not lost.
      hint = Promise.withResolvers();
      const canTake = !signal.aborted && health.problem() === null && running.size < slots;
      const job = canTake ? await take() : null;
      if (job !== null) begin(job);
      else await rest(hint.promise, signal);
    }
  } finally {
    stopListening();
    await Promise.all(running);
  }
}

type Take = () => Promise<LeasedJob | null>;

/** Null too where the queue can't be had just now: of failures in a row the first is told, and the recovery. */
function createTake({ queue, name, log }: TakeLoopOptions): Take {
  let isFailing = false;
  return async () => {
    try {
      const job = await queue.take(name);
      if (isFailing) log.info({ queue: name }, 'jobs can be taken again');
      isFailing = false;
      return job;
    } catch (error) {
      if (!isFailing) log.warn({ queue: name, err: error }, 'no job could be taken; tried again');
      isFailing = true;
      return null;
    }
  };
}

async function rest(hint: Promise<void>, signal: AbortSignal): Promise<void> {
  const rested = new AbortController();
  const lookAgain = delay(LOOK_EVERY_MS, undefined, { signal: rested.signal }).catch(
    () => undefined,
  );
  await until(Promise.race([hint, lookAgain]), signal);
  rested.abort();
}

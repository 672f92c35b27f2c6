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
  await Promise.all(Array.from({ length: options.slots }, () => runSlot(options, signal)));
}

async function runSlot(options: TakeLoopOptions, signal: AbortSignal): Promise<void> {
  const { queue, name, health, work } = options;
  let hint = Promise.withResolvers<void>();
  const stopListening = queue.onReady(name, () => hint.resolve());
  try {
    while (!signal.aborted) {
      await health.whenWell(signal);
      // Before the look: a hint that comes while we look is not lost.
      hint = Promise.withResolvers();
      const job = signal.aborted || health.problem() !== null ? null : await take(options);
      if (job !== null) await work(job);
      else await rest(hint.promise, signal);
    }
  } finally {
    stopListening();
  }
}

async function take({ queue, name, log }: TakeLoopOptions): Promise<LeasedJob | null> {
  try {
    return await queue.take(name);
  } catch (error) {
    log.warn({ queue: name, err: error }, 'no job could be taken; tried again');
    return null;
  }
}

async function rest(hint: Promise<void>, signal: AbortSignal): Promise<void> {
  const rested = new AbortController();
  const lookAgain = delay(LOOK_EVERY_MS, undefined, { signal: rested.signal }).catch(
    () => undefined,
  );
  await until(Promise.race([hint, lookAgain]), signal);
  rested.abort();
}

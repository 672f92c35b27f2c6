import { setTimeout as delay } from 'node:timers/promises';
import type { LeasedJob, Queue, QueueName } from '@kervyxa/db';
import type { Health } from './health.ts';
import type { Log } from './scheduler/nudge.ts';
import { until } from './until.ts';

export interface TakeLoopOptions {
  readonly queue: Queue;
  /** Those that share the slots: one job of each in turn, as far as there are any. */
  readonly names: readonly QueueName[];
  /** How many jobs it does side by side. */
  readonly slots: number;
  readonly health: Pick<Health, 'whenWell' | 'problem'>;
  /** Never rejects. */
  readonly work: (name: QueueName, job: LeasedJob) => Promise<void>;
  readonly log: Log;
}

/** Jobs also come without a hint: delayed ones, and those whose hint was lost. */
const LOOK_EVERY_MS = 1_000;

/** Takes jobs and does them, while this machine is well, until the signal is aborted; then ends those that it has. */
export async function runTakeLoop(options: TakeLoopOptions, signal: AbortSignal): Promise<void> {
  const { queue, names, slots, health, work } = options;
  const take = createTake(options);
  const running = new Set<Promise<void>>();
  let hint = Promise.withResolvers<void>();
  const listening = names.map((name) => queue.onReady(name, () => hint.resolve()));
  const begin = ({ name, job }: Taken): void => {
    const done = work(name, job).finally(() => {
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
      const taken = canTake ? await take() : null;
      if (taken !== null) begin(taken);
      else await rest(hint.promise, signal);
    }
  } finally {
    listening.forEach((stop) => stop());
    await Promise.all(running);
  }
}

interface Taken {
  readonly name: QueueName;
  readonly job: LeasedJob;
}
type Take = () => Promise<Taken | null>;

/** Null too where the queue can't be had just now: of failures in a row the first is told, and the recovery. */
function createTake({ queue, names, log }: TakeLoopOptions): Take {
  /** Whose turn it is; the first is who had none for the longest. */
  const turns = [...names];
  let isFailing = false;
  const takeInTurn = async (): Promise<Taken | null> => {
    for (const [place, name] of turns.entries()) {
      const job = await queue.take(name);
      if (job === null) continue;
      turns.splice(place, 1);
      turns.push(name);
      return { name, job };
    }
    return null;
  };
  return async () => {
    try {
      const taken = await takeInTurn();
      if (isFailing) log.info({ queues: names }, 'jobs can be taken again');
      isFailing = false;
      return taken;
    } catch (error) {
      if (!isFailing) log.warn({ queues: names, err: error }, 'no job could be taken; tried again');
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

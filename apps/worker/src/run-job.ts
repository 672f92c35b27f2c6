import type { LeasedJob, QueueName } from '@kervyxa/db';
import { approve } from './jobs/approve.ts';
import { capture } from './jobs/capture.ts';
import { check } from './jobs/check.ts';
import { conformance } from './jobs/conformance.ts';
import {
  again,
  LeaseLost,
  WorkerStopped,
  type JobDeps,
  type JobEnd,
  type JobHandler,
} from './jobs/job.ts';
import { verify } from './jobs/verify.ts';
import { withLease, type LeaseOptions } from './lease.ts';
import { GaveWay } from './places.ts';

const HANDLERS: Readonly<Record<QueueName, JobHandler>> = {
  approve,
  capture,
  verify,
  conformance,
  check,
};

/** Does a job and says what became of it. Never rejects: what can't be said now is said by the lease's end. */
export async function runJob(
  name: QueueName,
  job: LeasedJob,
  deps: JobDeps,
  lease: LeaseOptions,
): Promise<void> {
  const facts = { queue: name, subjectId: job.subjectId };
  const { log, clock } = deps;
  const startedMs = clock.monotonicMs();
  try {
    const end = await withLease(job, lease, (signal) => HANDLERS[name](deps, job, signal)).catch(
      (error: unknown): JobEnd | null => {
        if (error instanceof LeaseLost) return null;
        if (error instanceof WorkerStopped) return { kind: 'put_back' };
        if (error instanceof GaveWay) return again(job.tries);
        log.error({ ...facts, err: error }, 'a job broke');
        return again(job.tries);
      },
    );
    log.info(
      {
        ...facts,
        end: end?.kind ?? 'lost',
        ms: Math.round(clock.monotonicMs() - startedMs),
        ...(end?.kind === 'again' && { reason: end.reason, againInMs: end.delayMs }),
      },
      'job ended',
    );
    if (end?.kind === 'done') await job.complete();
    if (end?.kind === 'again') await job.giveBack(end.delayMs);
    if (end?.kind === 'put_back') await job.putBack();
  } catch (error) {
    log.warn({ ...facts, err: error }, 'the end of a job was not stored; its lease ends by itself');
  }
}

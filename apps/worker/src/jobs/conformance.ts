import type { InfraReason } from '@kervyxa/core';
import { infraReasonOf } from '@kervyxa/verifier';
import { loadImplementation } from './checker-sources.ts';
import { again, DONE, OF_MACHINES, type JobHandler } from './job.ts';
import { patiently } from './patiently.ts';
import { FixturesTooSlow } from './reproduce.ts';

/** Then somebody has to have it tried again. */
const TRIES_MAX = 6;

/**
 * Tries a published program on every fixture of its stage, and writes down what came of it. Trouble of ours says nothing
 * of the program: it is tried again, and FAILED in the end, never NONCONFORMANT. So are fixtures that take all too long,
 * or that kill their workers. Of two workers that both do it, since one was thought to be gone, the first to write is
 * believed: both did the same.
 */
export const conformance: JobHandler = async (deps, job, signal) => {
  const { work } = deps.database.checkers;
  const task = await work.conformanceTask(job.subjectId);
  if (task === null) return DONE;
  const { id, stageKey } = task;
  const fail = async (problem: string): Promise<void> => {
    await patiently(() => work.endConformance(id, { kind: 'failed', problem }), signal);
  };
  // Not even begun once more where they may be what killed so many workers.
  if (job.tries >= TRIES_MAX) {
    deps.log.error({ implementationId: id }, 'fixtures lost every worker that tried them');
    await fail(toProblem('WORKER_LOST'));
    return DONE;
  }
  try {
    const checker = await loadImplementation(deps, task, signal);
    const report = await deps.conformance(deps, checker, stageKey, signal);
    deps.health.clear();
    await patiently(() => work.endConformance(id, { kind: 'reported', report }), signal);
    deps.log.info({ implementationId: id, isConformant: report.isConformant }, 'fixtures tried');
  } catch (error) {
    if (signal.aborted) throw error;
    deps.log.error({ implementationId: id, err: error }, 'fixtures could not be tried');
    const reason = infraReasonOf(error);
    if (OF_MACHINES.has(reason)) deps.health.blame(reason);
    const isTooSlow = error instanceof FixturesTooSlow;
    if (!isTooSlow && job.tries + 1 < TRIES_MAX) return again(job.tries, reason);
    await fail(isTooSlow ? error.message : toProblem(reason));
  }
  return DONE;
};

function toProblem(reason: InfraReason): string {
  return `the fixtures could not be tried ${TRIES_MAX} times, at last for ${reason}`;
}

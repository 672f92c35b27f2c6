import { type CheckCommand, orTrouble, runStage } from '@kervyxa/checker';
import { isAppError } from '@kervyxa/core';
import type { CheckTask } from '@kervyxa/db';
import { infraReasonOf } from '@kervyxa/verifier';
import { loadImplementation, loadInput } from './checker-sources.ts';
import {
  DONE,
  LeaseLost,
  OF_MACHINES,
  WorkerStopped,
  type JobDeps,
  type JobHandler,
} from './job.ts';
import { patiently } from './patiently.ts';
import { recordCheck } from './record-check.ts';

type RunTask = Extract<CheckTask, { readonly kind: 'run' }>;

/**
 * Does what a check waits for.
 *
 * 1. An attempt begins, unless nothing can be done: a program has yet to conform, or nobody waits any more.
 * 2. Program, artifacts and reference inputs come from the database; only the inputs that the stage selects.
 * 3. This machine has seen every fixture reproduced before the program's first answer counts.
 * 4. What it came to is told with the attempt's number: what an older one says changes nothing.
 * 5. Of a check that has ended the record is written.
 */
export const check: JobHandler = async (deps, job, signal) => {
  const task = await deps.database.checkers.work.checkTask(job.subjectId);
  if (task.kind === 'waits') return DONE;
  if (task.kind === 'record') {
    await recordCheck(deps, task);
    return DONE;
  }
  try {
    await tell(deps, task, await run(deps, task, signal), signal);
    deps.health.clear();
  } catch (error) {
    if (signal.reason instanceof LeaseLost) throw error;
    const { attempt } = task;
    if (signal.reason instanceof WorkerStopped) {
      await tell(deps, task, { kind: 'release', attempt }, signal);
    } else {
      await fail(deps, task, error, signal);
    }
  }
  return DONE;
};

/** All of a stage's inputs are held in memory, and a worker has many stages. Contracts may ask for any size. */
const INPUT_BYTES_MAX = 268_435_456;

async function run(
  deps: JobDeps,
  { attempt, stageKey, implementation, entry, reference }: RunTask,
  signal: AbortSignal,
): Promise<CheckCommand> {
  const blobs = [...entry.artifacts, ...reference.values()].map(({ blob }) => blob);
  if (sumOf(await deps.database.work.blobSizes(blobs), blobs) > INPUT_BYTES_MAX) {
    const mechanism = `a worker that lays out more than ${INPUT_BYTES_MAX} bytes for one stage`;
    return { kind: 'unavailable', attempt, mechanism };
  }
  const checker = await loadImplementation(deps, implementation, signal);
  const { image } = await orTrouble(deps.conformance)(deps, checker, stageKey, signal);
  const artifacts = await Promise.all(
    entry.artifacts.map(async (each) => ({ ...(await loadInput(deps, each)), role: each.role })),
  );
  const inputs = await Promise.all(
    [...reference].map(async ([slot, each]) => [slot, await loadInput(deps, each)] as const),
  );
  try {
    const end = await runStage(
      deps,
      {
        package: checker,
        stageKey,
        submission: { artifacts, summaryText: entry.summaryText },
        reference: new Map(inputs),
      },
      signal,
    );
    const { id: implementationId, programDigest: digest } = implementation;
    const isBuiltin = checker.programs.get(stageKey)?.kind === 'builtin';
    const program = { implementationId, digest, image: isBuiltin ? null : image };
    return { kind: 'seal', attempt, end, program };
  } catch (error) {
    // What the problem binds is not what the contract asks for; no worker can do anything about it.
    if (isAppError(error) && error.traits.fault === 'caller') {
      return { kind: 'unavailable', attempt, mechanism: error.message };
    }
    throw error;
  }
}

function sumOf(sizes: ReadonlyMap<string, number>, blobs: readonly string[]): number {
  return blobs.reduce((total, blob) => total + (sizes.get(blob) ?? 0), 0);
}

async function fail(
  deps: JobDeps,
  task: RunTask,
  error: unknown,
  signal: AbortSignal,
): Promise<void> {
  const reason = infraReasonOf(error);
  deps.log.error({ checkId: task.check.id, err: error }, 'a stage of a check broke');
  if (OF_MACHINES.has(reason)) deps.health.blame(reason);
  await tell(deps, task, { kind: 'fail', attempt: task.attempt, reason }, signal);
}

async function tell(
  deps: JobDeps,
  { check: { id }, attempt, stageKey }: RunTask,
  command: CheckCommand,
  signal: AbortSignal,
): Promise<void> {
  const { work } = deps.database.checkers;
  const decision = await patiently(() => work.decideCheck(id, command), signal);
  const facts = { checkId: id, stageKey, attempt, command: command.kind };
  if (decision.kind === 'accepted') {
    deps.log.info({ ...facts, state: decision.next.state }, 'stage of a check told');
  } else {
    deps.log.warn({ ...facts, code: decision.error.code }, 'nobody waits for it any more');
  }
}

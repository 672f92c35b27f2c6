import { orTrouble } from '@kervyxa/checker';
import {
  INFRA_REASONS,
  isAppError,
  SOURCE_REASONS,
  type InfraReason,
  type ReasonCode,
  type SealedVerdict,
} from '@kervyxa/core';
import type { Contract } from '@kervyxa/contract';
import type { Command } from '@kervyxa/settlement';
import {
  infraReasonOf,
  verifyCommit,
  type VerificationEvent,
  type VerificationResult,
} from '@kervyxa/verifier';
import { toImageReference } from '../images.ts';
import { toEvidence } from './attest.ts';
import {
  DONE,
  LeaseLost,
  OF_MACHINES,
  WorkerStopped,
  type JobDeps,
  type JobHandler,
} from './job.ts';
import { loadCheckers } from './contract-checkers.ts';
import { createBeats } from './beats.ts';
import { patiently } from './patiently.ts';
import { createRunEvents } from './run-events.ts';
import { createRunLogs } from './run-logs.ts';
import {
  importBase,
  importCommit,
  loadBundle,
  loadPackage,
  readContract,
  toIntakeRequest,
} from './sources.ts';

type RunTask = NonNullable<Awaited<ReturnType<JobDeps['database']['work']['runTask']>>>;

/** One attempt at one run. Its number is in everything that is written: what an older attempt says changes nothing. */
interface Attempt {
  readonly task: RunTask;
  readonly attempt: number;
  readonly signal: AbortSignal;
}

/**
 * Verifies a submission, the first time or again for a challenge.
 *
 * 1. An attempt begins, unless nobody wants the result any more.
 * 2. Base, commit, hidden package and dependencies come from the database; no server of anybody's is asked.
 * 3. The commit is verified under the frozen contract, and watchers are told.
 * 4. A verdict is sealed with signed evidence, on the beat where criteria are hidden. Trouble of ours is none: the run is tried again, or held once its tries are used up.
 * 5. A worker that stops gives the run back; one that lost it writes nothing.
 */
export const verify: JobHandler = async (deps, job, signal) => {
  const { work } = deps.database;
  const attempt = await work.startRun(job.subjectId, deps.workerId);
  const task = attempt === null ? null : await work.runTask(job.subjectId);
  if (task === null || attempt === null) return DONE;
  const started = { task, attempt, signal };
  try {
    await run(deps, started);
  } catch (error) {
    if (signal.reason instanceof LeaseLost) throw error;
    if (signal.reason instanceof WorkerStopped) await tell(deps, started, { kind: 'release' });
    else await fail(deps, started, error);
  }
  return DONE;
};

async function run(deps: JobDeps, attempt: Attempt): Promise<void> {
  const { task, signal } = attempt;
  const contract = readContract(task.contract);
  const beats = createBeats(deps.clock, contract, deps.beatMs);
  const logs = createRunLogs(contract);
  const told = { runId: task.run.id, attempt: attempt.attempt, contract, beats };
  const events = createRunEvents(deps.database, told, deps.log);
  let telling: Promise<void> | null = null;
  const tellAtBeat = (): Promise<void> => (telling ??= beats.next(signal).then(events.close));
  try {
    const onEvent = (event: VerificationEvent) =>
      [logs, events].forEach((each) => each.onEvent(event));
    const result = await verifyTask(deps, attempt, { contract, onEvent });
    await seal(deps, attempt, { contract, result, logs: logs.logs(), tellAtBeat });
  } finally {
    await tellAtBeat();
  }
}

async function verifyTask(
  deps: JobDeps,
  { task, signal }: Attempt,
  { contract, onEvent }: { contract: Contract; onEvent: (event: VerificationEvent) => void },
): Promise<VerificationResult> {
  const request = toIntakeRequest(contract, task.submission);
  const importBoth = async (): Promise<void> => {
    await importBase(deps, request, task.contract, signal);
    await importCommit(deps, request, task.submission, signal);
  };
  await deps.gate.beside(importBoth, signal);
  const verifierPackage = await loadPackage(deps, contract);
  const dependencies = await loadBundle(deps, contract, task.contract);
  const checkers = await loadCheckers(deps, contract, task.contract, signal);
  const { image } = contract.environment;
  const runtimes = new Map([...deps.runtimes, [image, toImageReference(image, deps.runtimes)]]);
  return verifyCommit(
    { ...deps, runtimes, conformance: orTrouble(deps.conformance) },
    {
      contract,
      contractDigest: task.contract.digest,
      repositoryUrl: request.repositoryUrl,
      commit: request.commit,
      verifierPackage,
      dependencies,
      checkers,
      claimToken: task.claimToken,
    },
    { signal, onEvent },
  );
}

interface Outcome {
  readonly contract: Contract;
  readonly result: VerificationResult;
  readonly logs: ReturnType<ReturnType<typeof createRunLogs>['logs']>;
  readonly tellAtBeat: () => Promise<void>;
}

async function seal(
  deps: JobDeps,
  attempt: Attempt,
  { contract, result, logs, tellAtBeat }: Outcome,
): Promise<void> {
  const { task } = attempt;
  const reason = result.reasons[0]?.code ?? null;
  if (result.verdict === 'ERROR' || isSourceReason(reason)) {
    await tellAtBeat();
    return tell(deps, attempt, { kind: 'fail', reason: toFailure(reason) });
  }
  const { verdict } = result;
  const evidence = await toEvidence(deps, { task, contract, result });
  const { resultDigest } = evidence;
  const sealed: SealedVerdict = { verdict, reason, resultDigest };
  const content = { verdict: sealed, result: evidence.result, logs, whenSaved: tellAtBeat };
  let hasKey = false;
  const sealing = patiently(async () => {
    hasKey = false;
    const signed = { ...content, evidence: evidence.sign() };
    hasKey = true;
    return deps.database.work.sealRun(task.run.id, attempt.attempt, signed);
  }, attempt.signal);
  const isSealed = await sealing.catch((error: unknown) => {
    // A key that is lost or retired is this machine's, and another can sign. A database that is away is everybody's.
    const isRetired = isAppError(error) && error.code === 'DB_SIGNING_KEY_RETIRED';
    if (!hasKey || isRetired) deps.health.blame('a result that it could not sign');
    throw error;
  });
  deps.health.clear();
  const { id: runId, submissionId } = task.run;
  const facts = { submissionId, runId, attempt: attempt.attempt, verdict, reason };
  deps.log.info(facts, isSealed ? 'verdict sealed' : 'verdict thrown away: nobody waits for it');
}

async function fail(deps: JobDeps, attempt: Attempt, error: unknown): Promise<void> {
  deps.log.error({ runId: attempt.task.run.id, err: error }, 'a run broke');
  await tell(deps, attempt, { kind: 'fail', reason: infraReasonOf(error) });
}

type Word = { readonly kind: 'release' } | { readonly kind: 'fail'; readonly reason: InfraReason };

async function tell(deps: JobDeps, { task, attempt, signal }: Attempt, word: Word): Promise<void> {
  if (word.kind === 'fail' && OF_MACHINES.has(word.reason)) deps.health.blame(word.reason);
  const command: Command = { ...word, runId: task.run.id, attempt };
  await patiently(() => deps.database.cases.execute(task.contract.id, command), signal);
  deps.log.warn({ ...command }, word.kind === 'fail' ? 'run failed' : 'run given back');
}

/** It was captured, so a source that can't be had now is our trouble. */
function isSourceReason(reason: ReasonCode | null): boolean {
  return SOURCE_REASONS.some((each) => each === reason);
}

function toFailure(reason: ReasonCode | null): InfraReason {
  return INFRA_REASONS.find((each) => each === reason) ?? 'INTERNAL';
}

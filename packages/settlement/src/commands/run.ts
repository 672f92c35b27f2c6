import type { InfraReason } from '@kervyxa/core';
import type { RunCase } from '../case.ts';
import type { Command } from '../command.ts';
import {
  laterBy,
  type Draft,
  moveRun,
  moveSubmission,
  noteSubmission,
  type Refusal,
  runOf,
  submissionOf,
} from '../draft.ts';
import { createSettlementError } from '../errors.ts';
import { commitRefusal } from '../line.ts';
import { giveUpRerun, judgeReruns } from '../reruns.ts';

type CommandOf<Kind extends Command['kind']> = Extract<Command, { kind: Kind }>;

const RETRY_FIRST_MS = 5_000;
const RETRY_MAX_MS = 300_000;

/**
 * Begins an attempt. A run that is RUNNING already lost its worker. Accepted does not mean begun: look whether the run
 * is RUNNING in the next case, or was given up.
 */
export function start(draft: Draft, { runId }: CommandOf<'start'>): Refusal {
  const run = draft.runs.find((each) => each.id === runId);
  if (run === undefined || (run.state !== 'QUEUED' && run.state !== 'RUNNING'))
    return createSettlementError('SETTLEMENT_RUN_NOT_WANTED', {
      message: `expected run ${runId} to be wanted, got ${run?.state ?? 'one that has ended'}`,
    });
  if (run.state === 'QUEUED') {
    begin(draft, run);
    if (run.purpose === 'VERIFY') moveSubmission(draft, run.submissionId, 'RUNNING');
  } else if (isWanted(draft, run)) {
    const tries = run.tries + 1;
    if (tries < draft.policy.runTriesMax) begin(draft, run, { tries, lastFailure: 'WORKER_LOST' });
    else giveUp(draft, run, 'WORKER_LOST');
  } else {
    moveRun(draft, runId, 'ABANDONED');
  }
  return null;
}

export function seal(draft: Draft, { runId, attempt, verdict }: CommandOf<'seal'>): Refusal {
  const refusal = refuseStale(draft, runId, attempt);
  if (refusal !== null) return refusal;
  moveRun(draft, runId, 'SEALED', { verdict });
  const { purpose, submissionId } = runOf(draft, runId);
  if (purpose === 'RERUN') judgeReruns(draft, submissionId);
  else if (submissionOf(draft, submissionId).state === 'RUNNING')
    moveSubmission(draft, submissionId, 'VERIFIED', { verdict });
  else if (verdict.verdict === 'PASS') noteSubmission(draft, submissionId, { verdict });
  else commitRefusal(draft, submissionId, verdict);
  return null;
}

export function fail(draft: Draft, { runId, attempt, reason }: CommandOf<'fail'>): Refusal {
  const refusal = refuseStale(draft, runId, attempt);
  if (refusal !== null) return refusal;
  const run = runOf(draft, runId);
  const tries = run.tries + 1;
  if (!isWanted(draft, run)) moveRun(draft, runId, 'ABANDONED', { tries, lastFailure: reason });
  else if (tries < draft.policy.runTriesMax)
    queueAgain(draft, run, { tries, lastFailure: reason }, retryDelayMs(tries));
  else giveUp(draft, run, reason);
  return null;
}

export function release(draft: Draft, { runId, attempt }: CommandOf<'release'>): Refusal {
  const refusal = refuseStale(draft, runId, attempt);
  if (refusal !== null) return refusal;
  const run = runOf(draft, runId);
  if (isWanted(draft, run)) queueAgain(draft, run, {}, 0);
  else moveRun(draft, runId, 'ABANDONED');
  return null;
}

/** Doubles with every try, up to five minutes. */
export function retryDelayMs(tries: number): number {
  return Math.min(RETRY_FIRST_MS * 2 ** (tries - 1), RETRY_MAX_MS);
}

type Change = Partial<Pick<RunCase, 'tries' | 'lastFailure'>>;

function begin(draft: Draft, { id, attempt }: RunCase, change: Change = {}): void {
  moveRun(draft, id, 'RUNNING', { ...change, attempt: attempt + 1 });
}

/** A deferred submission's attempt may finish; it is not worth another one until the pass comes free. */
function isWanted(draft: Draft, { purpose, submissionId }: RunCase): boolean {
  return purpose === 'RERUN' || submissionOf(draft, submissionId).state === 'RUNNING';
}

function queueAgain(draft: Draft, run: RunCase, change: Change, delayMs: number): void {
  moveRun(draft, run.id, 'QUEUED', change);
  if (run.purpose === 'VERIFY') moveSubmission(draft, run.submissionId, 'QUEUED');
  draft.effects.push({ kind: 'enqueue_run', runId: run.id, delayMs });
}

/** Its tries are used up: a person looks after it, and nobody waits for it longer than the operator's grace. */
function giveUp(draft: Draft, run: RunCase, lastFailure: InfraReason): void {
  moveRun(draft, run.id, 'HELD', { tries: run.tries + 1, lastFailure });
  if (run.purpose === 'RERUN') giveUpRerun(draft, run.submissionId);
  else {
    const heldUntil = laterBy(draft, draft.policy.heldGraceMs);
    moveSubmission(draft, run.submissionId, 'HELD', { heldUntil });
  }
}

/** S27: a result counts only from the attempt that runs. */
function refuseStale(draft: Draft, runId: string, attempt: number): Refusal {
  const run = draft.runs.find((each) => each.id === runId);
  if (run?.state === 'RUNNING' && run.attempt === attempt) return null;
  const got = run === undefined ? 'a run that has ended' : `${run.state}, attempt ${run.attempt}`;
  return createSettlementError('SETTLEMENT_RUN_ATTEMPT_STALE', {
    message: `expected run ${runId} to be in attempt ${attempt}, got ${got}`,
  });
}

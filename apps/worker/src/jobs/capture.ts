import { isAppError, SOURCE_REASONS, verdictWithoutResult, type ReasonCode } from '@kervyxa/core';
import type { FetchedCommit, IntakeOutcome } from '@kervyxa/intake';
import type { Decision } from '@kervyxa/settlement';
import { again, DONE, fetchAtPlace, type JobDeps, type JobHandler } from './job.ts';
import { importBase, readContract, toIntakeRequest } from './sources.ts';

/** A capture is a pack with a header, and no pack is larger than the intake allows. */
export const CAPTURE_BYTES_MAX = 1_100 * 1_048_576;

/**
 * Has the submitted commit in the database, so that it can be verified, and verified again, whatever becomes of its
 * server. What can't be had is tried again until the submission's time for it is over, which the store sees to.
 */
export const capture: JobHandler = async (deps, job, signal) => {
  const { cases, work } = deps.database;
  const submissionId = job.subjectId;
  const task = await work.captureTask(submissionId);
  if (task === null) return DONE;
  const { submission, contract: row } = task;
  const begun = await cases.execute(row.id, { kind: 'try_capture', submissionId });
  if (!isWanted(begun, submissionId)) return DONE;

  const request = toIntakeRequest(readContract(row), submission);
  await importBase(deps, request, row, signal);
  const fetched = await fetchAtPlace(deps, job, (until) => fetch(deps, request, until), signal);
  if (fetched.kind === 'trouble') return again(job.tries, fetched.reason);
  if (fetched.kind === 'refused') {
    const verdict = verdictWithoutResult(fetched.verdict, fetched.reason);
    await cases.execute(row.id, { kind: 'refuse_capture', submissionId, verdict });
    return DONE;
  }
  await work.saveCapture(submissionId, fetched);
  await cases.execute(row.id, { kind: 'capture', submissionId });
  return DONE;
};

/** It may have ended meanwhile, or just now, as its time is over. */
function isWanted(decision: Decision, submissionId: string): boolean {
  if (decision.kind === 'refused') return false;
  return decision.next.submissions.some(
    ({ id, state }) => id === submissionId && state === 'RECEIVED',
  );
}

type Fetched =
  | { readonly kind: 'captured'; readonly sourceBlob: string; readonly tree: string }
  | {
      readonly kind: 'refused';
      readonly verdict: 'FAIL' | 'INCONCLUSIVE';
      readonly reason: ReasonCode;
    }
  /** Worth another try. */
  | { readonly kind: 'trouble'; readonly reason: ReasonCode };

async function fetch(
  deps: JobDeps,
  request: Parameters<JobDeps['intake']['fetchCommit']>[0],
  signal: AbortSignal,
): Promise<Fetched> {
  try {
    const outcome = await deps.intake.fetchCommit(request, signal);
    return outcome.kind === 'fetched'
      ? await save(deps, outcome.source, signal)
      : toRefusal(outcome);
  } catch (error) {
    signal.throwIfAborted();
    if (!isAppError(error)) throw error;
    // The address was public when it was submitted.
    if (error.code === 'INTAKE_URL_REFUSED') return INCONCLUSIVE;
    if (error.code === 'INTAKE_CAPTURE_TOO_LARGE' || error.code === 'DB_BLOB_TOO_LARGE')
      return { kind: 'refused', verdict: 'FAIL', reason: 'SOURCE_TOO_LARGE' };
    throw error;
  }
}

const INCONCLUSIVE: Fetched = {
  kind: 'refused',
  verdict: 'INCONCLUSIVE',
  reason: 'REPOSITORY_UNREACHABLE',
};

async function save(
  { database }: JobDeps,
  source: FetchedCommit,
  signal: AbortSignal,
): Promise<Fetched> {
  try {
    const bytes = source.exportCapture(signal);
    const { sha256 } = await database.work.saveBlob(bytes, { bytesMax: CAPTURE_BYTES_MAX });
    return { kind: 'captured', sourceBlob: sha256, tree: source.tree };
  } finally {
    await source.close();
  }
}

function toRefusal(outcome: Exclude<IntakeOutcome, { kind: 'fetched' }>): Fetched {
  const { reason } = outcome;
  if (outcome.kind === 'refused') return { kind: 'refused', verdict: 'FAIL', reason };
  if (SOURCE_REASONS.some((each) => each === reason)) return { kind: 'trouble', reason };
  return { kind: 'refused', verdict: 'INCONCLUSIVE', reason };
}

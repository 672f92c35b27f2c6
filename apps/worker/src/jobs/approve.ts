import { approveContract, contractDigest, type Contract } from '@kervyxa/contract';
import { canonicalJson, CommitShaSchema, isAppError, type AppError } from '@kervyxa/core';
import type { ContractRow, LeasedJob } from '@kervyxa/db';
import type { BaseTree } from '@kervyxa/intake';
import { loadBaseFacts } from '@kervyxa/verifier';
import { pinImage, toImageReference } from '../images.ts';
import { CAPTURE_BYTES_MAX } from './capture.ts';
import { again, DONE, fetchAtPlace, type JobDeps, type JobHandler } from './job.ts';

type Outcome = Parameters<JobDeps['database']['work']['finishApproval']>[2];

/** After that many tries of ours that broke, the requester is told and may ask again. */
const TRIES_MAX = 5;

/**
 * Approves a contract, or says why not.
 *
 * 1. The base is fetched and looked at.
 * 2. The rules are asked; what they find refuses or not.
 * 3. The image must be on the engine, and its name is pinned to what it means now. The hidden package is in the
 *    database since the contract was drafted.
 * 4. The base is captured, so that no run needs its server again.
 * 5. The outcome is stored, unless another attempt has begun meanwhile.
 */
export const approve: JobHandler = async (deps, job, signal) => {
  const { work } = deps.database;
  const task = await work.approvalTask(job.subjectId);
  if (task === null) return DONE;
  const outcome = await tryJudging(deps, task.contract, job, signal);
  if (outcome === null) return again(job.tries);
  await work.finishApproval(job.subjectId, task.attempt, outcome);
  const problem = outcome.kind === 'failed' ? outcome.problem : null;
  deps.log.info({ contractId: job.subjectId, outcome: outcome.kind, problem }, 'approval ended');
  return DONE;
};

/** Null where another try is worth it. */
async function tryJudging(
  deps: JobDeps,
  contract: ContractRow,
  job: LeasedJob,
  signal: AbortSignal,
): Promise<Outcome | null> {
  const { tries } = job;
  // Not even begun once more where it may be what killed so many workers.
  if (tries > TRIES_MAX) return BROKEN;
  try {
    return await fetchAtPlace(deps, job, (until) => judge(deps, contract, until), signal);
  } catch (error) {
    signal.throwIfAborted();
    if (isAppError(error) && error.traits.fault === 'caller') return toFailed(error);
    deps.log.warn({ contractId: contract.id, err: error }, 'an approval broke');
    if (tries < TRIES_MAX) return null;
    return isAppError(error) ? toFailed(error) : BROKEN;
  }
}

const BROKEN: Outcome = {
  kind: 'failed',
  problem: 'INTERNAL: every try broke; the operator finds more in the worker’s log',
};

function toFailed({ code, message, fix }: AppError): Outcome {
  return { kind: 'failed', problem: `${code}: ${message}${fix === undefined ? '' : `; ${fix}`}` };
}

async function judge(deps: JobDeps, row: ContractRow, signal: AbortSignal): Promise<Outcome> {
  const { intake, settings } = deps;
  const document: unknown = JSON.parse(row.document);
  const baseCommit = CommitShaSchema.parse(row.baseCommit);
  const base = await intake.openBase(row.repositoryUrl, baseCommit, signal);
  try {
    const facts = await loadBaseFacts(base, document);
    const { approved, contract, findings } = approveContract(document, facts, settings);
    if (!approved || contract === null) return { kind: 'refused', findings };

    const pinned = await pin(deps, contract, signal);
    const baseBlob = await captureBase(deps, base, signal);
    const digest = contractDigest(pinned);
    return { kind: 'proved', document: canonicalJson(pinned), digest, baseBlob, findings };
  } finally {
    await base.close();
  }
}

async function pin(
  { sandbox, runtimes }: JobDeps,
  contract: Contract,
  signal: AbortSignal,
): Promise<Contract> {
  const reference = toImageReference(contract.environment.image, runtimes);
  return pinImage(contract, await sandbox.resolveImage(reference, signal));
}

async function captureBase(
  { database }: JobDeps,
  base: BaseTree,
  signal: AbortSignal,
): Promise<string> {
  const capture = base.exportCapture(signal);
  return (await database.work.saveBlob(capture, { bytesMax: CAPTURE_BYTES_MAX })).sha256;
}

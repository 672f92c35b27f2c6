import { approveContract, contractDigest, type Contract } from '@kervyxa/contract';
import { canonicalJson, CommitShaSchema, isAppError } from '@kervyxa/core';
import type { ContractRow } from '@kervyxa/db';
import type { BaseTree } from '@kervyxa/intake';
import { loadBaseFacts } from '@kervyxa/verifier';
import { pinImage, toImageReference } from '../images.ts';
import { CAPTURE_BYTES_MAX } from './capture.ts';
import { again, DONE, type JobDeps, type JobHandler } from './job.ts';

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
  const outcome = await judge(deps, task.contract, signal).catch(
    (error: unknown): Outcome | null => {
      signal.throwIfAborted();
      const isCallers = isAppError(error) && error.traits.fault === 'caller';
      if (!isCallers) deps.log.warn({ contractId: job.subjectId, err: error }, 'an approval broke');
      if (!isCallers && job.tries < TRIES_MAX) return null;
      return {
        kind: 'failed',
        problem: isAppError(error) ? tell(error) : 'INTERNAL: see the worker’s log',
      };
    },
  );
  if (outcome === null) return again(job.tries);
  await work.finishApproval(job.subjectId, task.attempt, outcome);
  return DONE;
};

async function judge(deps: JobDeps, row: ContractRow, signal: AbortSignal): Promise<Outcome> {
  const { intake, settings, gate } = deps;
  const document: unknown = JSON.parse(row.document);
  const baseCommit = CommitShaSchema.parse(row.baseCommit);
  const openBase = () => intake.openBase(row.repositoryUrl, baseCommit, signal);
  const base = await gate.beside(openBase, signal);
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
  { database, gate }: JobDeps,
  base: BaseTree,
  signal: AbortSignal,
): Promise<string> {
  const save = () =>
    database.work.saveBlob(base.exportCapture(signal), { bytesMax: CAPTURE_BYTES_MAX });
  return (await gate.beside(save, signal)).sha256;
}

function tell({ code, message, fix }: { code: string; message: string; fix: string | undefined }) {
  return fix === undefined ? `${code}: ${message}` : `${code}: ${message}; ${fix}`;
}

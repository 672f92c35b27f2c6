import { approveContract, contractDigest, type Contract, type Finding } from '@kervyxa/contract';
import { canonicalJson, CommitShaSchema, isAppError, type AppError } from '@kervyxa/core';
import type { ContractRow, LeasedJob } from '@kervyxa/db';
import type { BaseTree } from '@kervyxa/intake';
import { loadBaseFacts } from '@kervyxa/verifier';
import { pinImage, toImageReference } from '../images.ts';
import { CAPTURE_BYTES_MAX } from './capture.ts';
import { lintPackages, loadCheckers, pinRuntimes } from './contract-checkers.ts';
import { again, DONE, fetchAtPlace, type JobDeps, type JobHandler } from './job.ts';
import { NobodyAsks, proveDraft, ProvingTooLong } from './prove-draft.ts';

type Task = NonNullable<Awaited<ReturnType<JobDeps['database']['work']['approvalTask']>>>;
type Outcome = Parameters<JobDeps['database']['work']['finishApproval']>[2];

/** After that many tries of ours that broke, the requester is told and may ask again. */
const TRIES_MAX = 5;

/**
 * Approves a contract, or says why not.
 *
 * 1. The base is fetched and looked at.
 * 2. The rules are asked; what they find refuses or not.
 * 3. The images must be on the engine, and their names are pinned to what they mean now. Hidden package and checker
 *    packages are in the database since the contract was drafted.
 * 4. The base is captured, so that no run needs its server again; the commits of `proof` are fetched.
 * 5. The contract is proved in containers, and the requester is told how far that is.
 * 6. The outcome is stored, unless another attempt has begun meanwhile or the draft was edited.
 */
export const approve: JobHandler = async (deps, job, signal) => {
  const { work } = deps.database;
  const task = await work.approvalTask(job.subjectId);
  if (task === null) return DONE;
  try {
    const outcome = await tryApproving(deps, task, job, signal);
    if (outcome === null) return again(job.tries);
    const isStored = await work.finishApproval(job.subjectId, task.attempt, outcome);
    const problem = outcome.kind === 'failed' ? outcome.problem : null;
    const facts = { contractId: job.subjectId, outcome: outcome.kind, problem };
    deps.log.info(facts, isStored ? 'approval ended' : 'approval thrown away: nobody waits for it');
  } catch (error) {
    if (!(error instanceof NobodyAsks)) throw error;
    deps.log.info({ contractId: job.subjectId }, 'approval left: nobody waits for it');
  }
  return DONE;
};

/** Null where another try is worth it. Throws NobodyAsks. */
async function tryApproving(
  deps: JobDeps,
  task: Task,
  job: LeasedJob,
  signal: AbortSignal,
): Promise<Outcome | null> {
  const { tries } = job;
  // Not even begun once more where it may be what killed so many workers.
  if (tries > TRIES_MAX) return BROKEN;
  try {
    const linted = await fetchAtPlace(
      deps,
      job,
      (until) => lint(deps, task.contract, until),
      signal,
    );
    return linted.kind === 'refused' ? linted : await prove(deps, task, linted, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof NobodyAsks) throw error;
    if (error instanceof ProvingTooLong) return { kind: 'failed', problem: error.message };
    if (isAppError(error) && error.traits.fault === 'caller') return toFailed(error);
    deps.log.warn({ contractId: task.contract.id, err: error }, 'an approval broke');
    if (tries < TRIES_MAX) return null;
    if (error instanceof ProofUnreachable) return { kind: 'failed', problem: error.message };
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

/** What the rules let through, with all that proving needs of servers fetched. */
interface Linted {
  readonly kind: 'linted';
  /** Its image pinned. */
  readonly contract: Contract;
  readonly baseBlob: string;
  readonly findings: readonly Finding[];
}

async function lint(
  deps: JobDeps,
  row: ContractRow,
  signal: AbortSignal,
): Promise<Linted | Extract<Outcome, { kind: 'refused' }>> {
  const { intake, settings } = deps;
  const document: unknown = JSON.parse(row.document);
  const baseCommit = CommitShaSchema.parse(row.baseCommit);
  const base = await intake.openBase(row.repositoryUrl, baseCommit, signal);
  try {
    const facts = await loadBaseFacts(base, document);
    const { approved, contract, findings } = approveContract(document, facts, settings);
    if (!approved || contract === null) return { kind: 'refused', provingBlob: null, findings };
    const ofPackages = await lintPackages(deps, contract, row, signal);
    if (ofPackages.length > 0) {
      return { kind: 'refused', provingBlob: null, findings: [...findings, ...ofPackages] };
    }

    const pinned = await pin(deps, contract, row, signal);
    const baseBlob = await captureBase(deps, base, signal);
    await fetchProof(deps, pinned, signal);
    return { kind: 'linted', contract: pinned, baseBlob, findings };
  } finally {
    await base.close();
  }
}

async function prove(
  deps: JobDeps,
  task: Task,
  { contract, baseBlob, findings: linted }: Linted,
  signal: AbortSignal,
): Promise<Outcome> {
  const digest = contractDigest(contract);
  const proving = await proveDraft(deps, task, { contract, digest }, signal);
  const { isProved, provingBlob } = proving;
  const findings = [...linted, ...proving.findings];
  if (!isProved) return { kind: 'refused', provingBlob, findings };
  const document = canonicalJson(contract);
  return { kind: 'proved', document, digest, baseBlob, provingBlob, findings };
}

async function pin(
  deps: JobDeps,
  contract: Contract,
  row: ContractRow,
  signal: AbortSignal,
): Promise<Contract> {
  const reference = toImageReference(contract.environment.image, deps.runtimes);
  const pinned = pinImage(contract, await deps.sandbox.resolveImage(reference, signal));
  const checkers = await loadCheckers(deps, contract, row, signal);
  return pinRuntimes(deps, pinned, checkers, signal);
}

async function captureBase(
  { database }: JobDeps,
  base: BaseTree,
  signal: AbortSignal,
): Promise<string> {
  const capture = base.exportCapture(signal);
  return (await database.work.saveBlob(capture, { bytesMax: CAPTURE_BYTES_MAX })).sha256;
}

/** Another try is worth it. Its message is for the requester. */
class ProofUnreachable extends Error {
  override readonly name = 'ProofUnreachable';
}

/**
 * Has the commits of `proof` in this machine's intake: proving fetches inside the gate, where a server that trickles
 * would hold up whoever wants to be alone. What can't be had for another reason than a server that does not answer is
 * left for proving to say. Throws ProofUnreachable.
 */
async function fetchProof(
  { intake }: JobDeps,
  { repository, proof }: Contract,
  signal: AbortSignal,
): Promise<void> {
  const { url: baseRepositoryUrl, baseCommit } = repository;
  for (const { commit, repository: own } of proof) {
    const repositoryUrl = own ?? baseRepositoryUrl;
    try {
      const asked = { baseRepositoryUrl, baseCommit, repositoryUrl, commit };
      const outcome = await intake.fetchCommit(asked, signal);
      if (outcome.kind === 'fetched') await outcome.source.close();
      else if (outcome.reason === 'REPOSITORY_UNREACHABLE') throw unreachable(commit, outcome);
    } catch (error) {
      signal.throwIfAborted();
      if (!isAppError(error) || error.traits.fault !== 'caller') throw error;
    }
  }
}

function unreachable(commit: string, { message }: { readonly message: string }): Error {
  return new ProofUnreachable(
    `REPOSITORY_UNREACHABLE: expected commit ${commit} of proof from its server, got none: ${message}; ` +
      'approve again once the server answers',
  );
}

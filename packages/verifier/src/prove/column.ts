import type { Contract } from '@kervyxa/contract';
import { isAppError, type TreeArchive } from '@kervyxa/core';
import type { CandidateTree, FetchedCommit } from '@kervyxa/intake';
import type { Checkers } from '../checker-fit.ts';
import { verifierError } from '../errors.ts';
import { toInfraReason } from '../infra.ts';
import { judgeCandidate, type StepEnd } from '../judge-candidate.ts';
import { type Reason, toNotRun } from '../result.ts';
import { createStepLog } from '../steps.ts';
import { fetchCommit, type VerifierDeps, type VerifyRequest } from '../verify-commit.ts';
import { toDiffText } from './diff-text.ts';
import { createLogTails, type LogTails } from './evidence.ts';
import type { ProvingColumn } from './report.ts';

/** What every column is judged with. */
export interface ColumnBench {
  readonly deps: Required<VerifierDeps>;
  readonly contract: Contract;
  readonly verifierPackage: TreeArchive | null;
  readonly dependencies: TreeArchive | null;
  readonly checkers: Checkers;
  readonly signal: AbortSignal;
}

export type ColumnHead = Pick<ProvingColumn, 'id' | 'kind' | 'title' | 'commit' | 'expected'>;

/** A column with what the report itself does not show. */
export interface JudgedColumn {
  readonly column: ProvingColumn;
  readonly logs: LogTails;
  readonly imageDigest: string | null;
}

/**
 * Fetches a commit, hands it over, or why it can't be had, and closes it. Throws VERIFIER_PROVING_BROKEN where that is
 * ours.
 */
export async function withFetched<T>(
  bench: ColumnBench,
  asked: Pick<VerifyRequest, 'repositoryUrl' | 'commit'>,
  use: (fetched: StepEnd<FetchedCommit>) => Promise<T>,
): Promise<T> {
  const { deps, contract, signal } = bench;
  const log = createStepLog(deps.clock, () => undefined);
  const fetched = await fetchCommit(deps, { ...asked, contract }, log, signal).catch(
    (error: unknown) => toRefusedUrl(error, asked.repositoryUrl !== contract.repository.url),
  );
  try {
    if (fetched.kind === 'stop' && fetched.verdict === 'ERROR') {
      throw toBroken(`commit ${asked.commit}`, fetched.reasons);
    }
    return await use(fetched);
  } finally {
    if (fetched.kind === 'go') await fetched.value.close();
  }
}

/** A URL of proof is the requester's to mend, like the rest of the contract. */
function toRefusedUrl(error: unknown, isOfProof: boolean): StepEnd<never> {
  if (!isOfProof || !isAppError(error) || error.code !== 'INTAKE_URL_REFUSED') throw error;
  const { message } = error;
  const reasons: Reason[] = [{ code: 'REPOSITORY_UNREACHABLE', subject: null, message }];
  return { kind: 'stop', verdict: 'INCONCLUSIVE', reasons };
}

/** Judges one tree; a tree that is no commit's is shown by its diff. Throws VERIFIER_PROVING_BROKEN. */
export async function judgeColumn(
  bench: ColumnBench,
  head: ColumnHead,
  candidate: CandidateTree,
): Promise<JudgedColumn> {
  const { deps, contract, verifierPackage, dependencies, checkers, signal } = bench;
  const logs = createLogTails();
  const { onEvent } = logs;
  const log = createStepLog(deps.clock, onEvent);
  const asksPolicy = head.kind !== 'base';
  const inputs = { contract, verifierPackage, dependencies, checkers, claimToken: null };
  try {
    const { verdict, reasons, criteria, imageDigest } = await judgeCandidate(
      deps,
      { ...inputs, candidate, asksPolicy },
      { log, signal, onEvent },
    );
    // Also where another criterion has failed: a table with a hole in it is no proof, and a retry fills it.
    if (verdict === 'ERROR' || criteria.some(({ status }) => status === 'error')) {
      throw toBroken(head.title, reasons);
    }
    const diff = head.commit === null ? await toDiffText(candidate) : null;
    return { column: { ...head, verdict, reasons, criteria, diff }, logs, imageDigest };
  } catch (error) {
    if (isAppError(error) && error.code === 'VERIFIER_PROVING_BROKEN') throw error;
    throw toBroken(head.title, [toInfraReason(error, null, signal)], error);
  }
}

/** The column of a commit that could not be had, so that nothing ran. */
export function toUnjudged(
  { contract }: ColumnBench,
  head: ColumnHead,
  { verdict, reasons }: Extract<StepEnd<unknown>, { kind: 'stop' }>,
): JudgedColumn {
  const criteria = contract.criteria.map(toNotRun);
  const column = { ...head, verdict, reasons: [...reasons], criteria, diff: null };
  return { column, logs: createLogTails(), imageDigest: null };
}

export function toBroken(title: string, reasons: readonly Reason[], cause?: unknown): Error {
  const why = reasons.map(({ code, message }) => `${code}: ${message}`).join('; ');
  return verifierError('VERIFIER_PROVING_BROKEN', {
    message: `expected a judgement of ${title}, got none: ${why}`,
    fix: 'prove again; where it stays, look at the engine and the repository',
    cause,
  });
}

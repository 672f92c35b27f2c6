import { INFRA_REASONS, type InfraReason, type SealedVerdict } from '@kervyxa/core';
import {
  CHALLENGE_KINDS,
  CHALLENGE_STATES,
  type ChallengeCase,
  type Command,
  CONTRACT_STATES,
  type ContractCase,
  type ContractFacts,
  RUN_PURPOSES,
  RUN_STATES,
  type RunCase,
  SUBMISSION_STATES,
  type SubmissionCase,
} from '@kervyxa/settlement';
import type { Submission } from '../generated/client.ts';
import {
  CHALLENGE_COLUMNS,
  type ChallengeTermsRow,
  type ContractTermsRow,
  RUN_COLUMNS,
  type RunTermsRow,
  SUBMISSION_COLUMNS,
  TERMS_COLUMNS,
  toOneOf,
  toReason,
} from './rows.ts';
import { lockContractSql } from './lock-contract.ts';
import { queryRows, type Sql } from './sql.ts';

// In the text, not a parameter: so the planner knows that few are, however many have ended.
const LIVE_STATES = `'RECEIVED', 'QUEUED', 'RUNNING', 'VERIFIED', 'HELD', 'PASSED', 'DEFERRED'`;

export interface LoadedCase {
  readonly before: ContractCase;
  /** Database time, whole milliseconds, read after the lock was had: a caller who waited is judged by when it got it. */
  readonly now: Date;
  readonly nextDueAt: Date | null;
}

/**
 * Locks the contract until the transaction ends and reads its case. Null where there is none.
 */
export async function loadCase(
  sql: Sql,
  contractId: string,
  command: Command,
): Promise<LoadedCase | null> {
  const [contract] = await queryRows<ContractTermsRow>(
    sql,
    lockContractSql(TERMS_COLUMNS, 'ALONE'),
    [contractId],
  );
  if (contract === undefined) return null;
  const now = await loadNow(sql);
  const subject = await loadSubject(sql, command);
  const submissions = await queryRows<Submission>(
    sql,
    `SELECT ${SUBMISSION_COLUMNS} FROM submissions s WHERE s.contract_id = $1 AND s.state IN (${LIVE_STATES})
     UNION ALL
     SELECT ${SUBMISSION_COLUMNS} FROM submissions s
     WHERE s.contract_id = $1 AND s.state NOT IN (${LIVE_STATES}) AND s.id = $2
     ORDER BY seq`,
    [contractId, subject],
  );
  const before = await assembleCase(sql, contract, submissions);
  return { before, now, nextDueAt: contract.nextDueAt };
}

/** The case of these submissions, with all their runs and challenges. */
export async function assembleCase(
  sql: Sql,
  contract: ContractTermsRow,
  submissions: readonly Submission[],
): Promise<ContractCase> {
  const ids = submissions.map(({ id }) => id);
  const runs = await queryRows<RunTermsRow>(
    sql,
    `SELECT ${RUN_COLUMNS} FROM runs r WHERE r.submission_id = ANY($1) ORDER BY r.created_at, r.id`,
    [ids],
  );
  const challenges = await queryRows<ChallengeTermsRow>(
    sql,
    `SELECT ${CHALLENGE_COLUMNS} FROM challenges h WHERE h.submission_id = ANY($1) ORDER BY h.seq`,
    [ids],
  );
  return {
    contract: toContractFacts(contract),
    submissions: submissions.map(toSubmissionCase),
    runs: runs.map(toRunCase),
    challenges: challenges.map(toChallengeCase),
  };
}

/** Whole milliseconds, so that no comparison depends on what a driver does with the rest. */
export async function loadNow(sql: Sql): Promise<Date> {
  const [row] = await queryRows<{ now: Date }>(
    sql,
    `SELECT date_trunc('milliseconds', clock_timestamp()) AS now`,
  );
  if (row === undefined) throw new Error('expected the time of the database, got no row');
  return row.now;
}

/** The submission that a command is about. */
async function loadSubject(sql: Sql, command: Command): Promise<string | null> {
  if ('submissionId' in command) return command.submissionId;
  const [table, id] =
    'runId' in command
      ? ['runs', command.runId]
      : 'challengeId' in command
        ? ['challenges', command.challengeId]
        : [null, ''];
  if (table === null) return null;
  const [row] = await queryRows<{ id: string }>(
    sql,
    `SELECT submission_id AS id FROM ${table} WHERE id = $1`,
    [id],
  );
  return row?.id ?? null;
}

export function toContractFacts(row: ContractTermsRow): ContractFacts {
  return {
    id: row.id,
    requesterId: row.requesterId,
    state: toOneOf(CONTRACT_STATES, row.state),
    closesAt: row.closesAt,
    rewardMinor: row.rewardMinor,
    currency: row.currency,
    feeBps: row.feeBps,
    challengeWindowMs: row.windowSeconds * 1_000,
    responseWindowMs: row.responseSeconds * 1_000,
    challengeBondMinor: row.bondMinor,
  };
}

function toSubmissionCase(row: Submission): SubmissionCase {
  const { windowOpensAt: opensAt, windowClosesAt: closesAt } = row;
  return {
    id: row.id,
    solverId: row.solverId,
    seq: row.seq,
    state: toOneOf(SUBMISSION_STATES, row.state),
    captureBy: row.captureBy,
    captured: row.capturedAt !== null,
    heldUntil: row.heldUntil,
    window: opensAt === null || closesAt === null ? null : { opensAt, closesAt },
    verdict: toSealedVerdict(row),
  };
}

function toRunCase(row: RunTermsRow): RunCase {
  return {
    id: row.id,
    submissionId: row.submissionId,
    purpose: toOneOf(RUN_PURPOSES, row.purpose),
    state: toOneOf(RUN_STATES, row.state),
    attempt: row.attempt,
    tries: row.tries,
    lastFailure: row.verdict === null && row.reason !== null ? toFailure(row.reason) : null,
    verdict: toSealedVerdict(row),
  };
}

function toChallengeCase(row: ChallengeTermsRow): ChallengeCase {
  return {
    id: row.id,
    submissionId: row.submissionId,
    challengerId: row.challengerId,
    kind: toOneOf(CHALLENGE_KINDS, row.kind),
    state: toOneOf(CHALLENGE_STATES, row.state),
    bondMinor: row.bondMinor,
    respondBy: row.respondBy,
    decideBy: row.decideBy,
    runIds: row.runIds,
    rerunOrdered: row.rerunOrdered,
  };
}

function toSealedVerdict(row: {
  verdict: string | null;
  reason: string | null;
  resultDigest: string | null;
}): SealedVerdict | null {
  if (row.verdict === null || row.resultDigest === null) return null;
  return {
    verdict: toOneOf(['PASS', 'FAIL', 'INCONCLUSIVE'], row.verdict),
    reason: toReason(row.reason),
    resultDigest: row.resultDigest,
  };
}

function toFailure(text: string): InfraReason {
  return toOneOf(INFRA_REASONS, text);
}

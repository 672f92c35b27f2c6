import { createSettlementError, type SettlementPolicy } from '@kervyxa/settlement';
import { z } from 'zod';
import { createDbError } from '../errors.ts';
import type { Call, SubmissionRow } from '../ports.ts';
import { createContractUnknown, type ExecuteDeps } from './execute.ts';
import { createIdempotencyConflict } from './idempotency.ts';
import type { Transaction } from './in-transaction.ts';
import { queryRows } from './sql.ts';

export interface SubmitInput {
  readonly contractId: string;
  readonly repositoryUrl: string;
  readonly commit: string;
}

interface Outcome {
  readonly outcome: string;
  readonly submissionId: string | null;
  readonly seq: bigint | null;
  readonly receivedAt: Date | null;
  readonly facts: unknown;
}

const FactsSchema = z.strictObject({
  state: z.string().optional(),
  closesAt: z.string().optional(),
  count: z.int().optional(),
});

/**
 * Puts a submission in line, together with its Idempotency-Key and the job that captures its commit, and answers it as
 * it was received. Shares the contract's lock with other submits, so that they wait for the disk together; several at
 * the same moment may exceed a limit of the line by as many as there are connections.
 */
export async function submit(
  { sql, queues, streams }: Transaction,
  { policy, newId, sendJob }: ExecuteDeps,
  { actorId, idempotency }: Call,
  input: SubmitInput,
): Promise<SubmissionRow> {
  const { contractId, repositoryUrl, commit } = input;
  const [row] = await queryRows<Outcome>(
    sql,
    `SELECT outcome, submission_id AS "submissionId", seq, received_at AS "receivedAt", facts
     FROM submit_commit($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      newId('submission'),
      contractId,
      actorId,
      repositoryUrl,
      commit,
      idempotency?.key ?? null,
      idempotency?.inputHash ?? null,
      policy.captureGraceMs,
      policy.lineLengthMax,
      policy.linePerSolverMax,
    ],
  );
  if (row === undefined) throw new Error('expected what became of a submission, got no row');
  const { outcome, submissionId: id, seq, receivedAt } = row;
  const isIn = outcome === 'ACCEPTED' || outcome === 'REPEATED';
  if (!isIn || id === null || seq === null || receivedAt === null) {
    throw toRefusal(row, input, { policy, key: idempotency?.key ?? '' });
  }
  if (outcome === 'ACCEPTED') {
    await sendJob(sql, 'capture', id, { contractId, solverId: actorId, delayMs: 0 });
    queues.add('capture');
    streams.add(contractId);
  }
  return {
    id,
    seq,
    contractId,
    solverId: actorId,
    repositoryUrl,
    commit,
    state: 'RECEIVED',
    receivedAt,
    capturedAt: null,
    sourceBlob: null,
    tree: null,
    windowOpensAt: null,
    windowClosesAt: null,
    verdict: null,
    reason: null,
    resultDigest: null,
  };
}

function toRefusal(
  { outcome, submissionId, receivedAt, facts }: Outcome,
  { contractId }: SubmitInput,
  { policy, key }: { readonly policy: SettlementPolicy; readonly key: string },
): Error {
  const { state, closesAt, count } = FactsSchema.parse(facts ?? {});
  switch (outcome) {
    case 'DB_IDEMPOTENCY_CONFLICT':
      return createIdempotencyConflict(key);
    case 'SETTLEMENT_CONTRACT_UNKNOWN':
      return createContractUnknown(contractId);
    case 'SETTLEMENT_CONTRACT_STATE_REFUSED':
      return createSettlementError(outcome, {
        message: `expected a contract that is OPEN or IN_CHALLENGE, got ${state}`,
        fix: 'Look at the state of the contract first.',
        details: { state },
      });
    case 'SETTLEMENT_CONTRACT_CLOSED':
      return createSettlementError(outcome, {
        message: `expected a time before ${closesAt}, got ${receivedAt?.toISOString()}`,
        fix: 'Use a contract that closes later.',
      });
    case 'SETTLEMENT_OWN_CONTRACT':
      return createSettlementError(outcome, {
        message: 'expected a solver who is not the requester, got the requester',
        fix: 'Cancel the contract if its work is done.',
      });
    case 'DB_SOLVER_NOT_INVITED':
      return createDbError(outcome, {
        message: 'expected a solver whom the contract invites, got another one',
        fix: 'Ask the requester for an invitation.',
      });
    case 'SETTLEMENT_LINE_FULL':
      return createSettlementError(outcome, {
        message: `expected fewer than ${policy.lineLengthMax} undecided submissions, got ${count}`,
        fix: 'Submit again when some of them are decided.',
      });
    case 'SETTLEMENT_SOLVER_LINE_FULL':
      return createSettlementError(outcome, {
        message: `expected fewer than ${policy.linePerSolverMax} undecided submissions of one solver, got ${count}`,
        fix: 'Submit again when some of yours are decided.',
      });
    case 'DB_SUBMISSION_DUPLICATE':
      return createDbError(outcome, {
        message: `expected a commit that you have not submitted yet, got that of ${submissionId}`,
        fix: 'Follow the submission that is there.',
        details: { submissionId },
      });
    default:
      return new Error(`expected a known outcome of a submission, got ${outcome}`);
  }
}

import { createSettlementError, type SettlementPolicy } from '@kervyxa/settlement';
import { z } from 'zod';
import { createDbError } from '../errors.ts';
import type { Call, SubmittedRow } from '../ports.ts';
import { createContractUnknown, type ExecuteDeps } from './execute.ts';
import { createIdempotencyConflict } from './idempotency.ts';
import type { Transaction } from './in-transaction.ts';
import type { NewJob } from '../queue/send-many.ts';
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

/** One who submits, and their answer: the submission as it was received, or why it is refused. */
export interface Submit {
  readonly call: Call;
  readonly input: SubmitInput;
}
export type Submitted = SubmittedRow | Error;

/**
 * Puts submissions in line, in their order, together with their Idempotency-Keys and the jobs that capture their
 * commits. Shares the contract's lock with submits of other processes; several at the same moment may exceed a limit of
 * the line by as many as there are processes.
 */
export async function submitAll(
  { sql, queues, streams }: Transaction,
  { policy, newId, sendMany }: ExecuteDeps,
  submits: readonly Submit[],
): Promise<readonly Submitted[]> {
  const calls = submits.map(({ call }) => call);
  const inputs = submits.map(({ input }) => input);
  const outcomes = await queryRows<Outcome>(
    sql,
    `SELECT o.outcome, o.submission_id AS "submissionId", o.seq, o.received_at AS "receivedAt", o.facts
     FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
       WITH ORDINALITY AS s (id, contract_id, solver_id, repository_url, commit, key, input_hash, n),
     submit_commit(s.id, s.contract_id, s.solver_id, s.repository_url, s.commit, s.key, s.input_hash,
       $8, $9, $10) AS o
     ORDER BY s.n`,
    [
      submits.map(() => newId('submission')),
      inputs.map(({ contractId }) => contractId),
      calls.map(({ actorId }) => actorId),
      inputs.map(({ repositoryUrl }) => repositoryUrl),
      inputs.map(({ commit }) => commit),
      calls.map(({ idempotency }) => idempotency?.key ?? null),
      calls.map(({ idempotency }) => idempotency?.inputHash ?? null),
      policy.captureGraceMs,
      policy.lineLengthMax,
      policy.linePerSolverMax,
    ],
  );
  const jobs: NewJob[] = [];
  const answers = submits.map(({ call, input }, index) => {
    const outcome = outcomes[index];
    if (outcome === undefined) throw new Error('expected what became of a submission, got no row');
    const row = toRow(outcome, call.actorId, input);
    if (row === null)
      return toRefusal(outcome, input, { policy, key: call.idempotency?.key ?? '' });
    if (outcome.outcome === 'ACCEPTED') {
      const { id: subjectId, contractId, solverId } = row;
      jobs.push({ subjectId, contractId, solverId });
      streams.add(contractId);
    }
    return row;
  });
  if (jobs.length > 0) {
    await sendMany(sql, 'capture', jobs);
    queues.add('capture');
  }
  return answers;
}

/** The submission as it was received, whatever has become of it; null where it is refused. */
function toRow(
  { outcome, submissionId: id, seq, receivedAt }: Outcome,
  solverId: string,
  { contractId, repositoryUrl, commit }: SubmitInput,
): SubmittedRow | null {
  const isIn = outcome === 'ACCEPTED' || outcome === 'REPEATED';
  if (!isIn || id === null || seq === null || receivedAt === null) return null;
  return {
    isRepeat: outcome === 'REPEATED',
    id,
    seq,
    contractId,
    solverId,
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

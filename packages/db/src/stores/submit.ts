import { refuseSubmit } from '@kervyxa/settlement';
import { createDbError } from '../errors.ts';
import { createContractUnknown, type ExecuteDeps } from './execute.ts';
import type { Transaction } from './in-transaction.ts';
import { toContractFacts } from './load-case.ts';
import { type ContractTermsRow, TERMS_COLUMNS } from './rows.ts';
import { queryRows, type Sql } from './sql.ts';
import { forgetKeys, takeKeys } from './submit-keys.ts';
import { type Submit, type Submitted, type Submitting, toReceived } from './submitting.ts';

/** Undecided or deferred. */
const LINE_STATES = ['RECEIVED', 'QUEUED', 'RUNNING', 'VERIFIED', 'HELD', 'DEFERRED'];

/**
 * Submissions to one contract, in their order, with as many statements as for one.
 *
 * 1. Take the Idempotency-Keys: whoever asked before gets the first answer.
 * 2. Share the contract's lock with submits of other processes, then read time and line. Those of other processes are
 *    not seen: as many may exceed a limit at once.
 * 3. Decide by the rules of settlement, each with those before it.
 * 4. Store those that are in, the record, and the jobs that capture their commits.
 * 5. Forget the keys of those that are not: the next request may find things otherwise.
 */
export async function submitAll(
  transaction: Transaction,
  deps: ExecuteDeps,
  contractId: string,
  submits: readonly Submit[],
): Promise<readonly Submitted[]> {
  const { sql } = transaction;
  const all = submits.map((each): Submitting => {
    return { ...each, id: deps.newId('submission'), answer: null };
  });
  await takeKeys(sql, all);

  const asking = all.filter(isWaiting);
  const place = asking.length === 0 ? null : await lockPlace(sql, contractId, asking);
  for (const each of asking) {
    each.answer = place === null ? createContractUnknown(contractId) : refuse(place, deps, each);
  }
  const isIn = asking.filter(isWaiting);
  if (place !== null && isIn.length > 0) await saveAll(transaction, deps, place, isIn);
  await forgetKeys(
    sql,
    asking.filter(({ answer }) => answer instanceof Error),
  );

  return all.map(({ id, answer }) => {
    if (answer === null) throw new Error(`expected an answer to ${id}, got none`);
    return answer;
  });
}

function isWaiting({ answer }: Submitting): boolean {
  return answer === null;
}

/** The line that somebody joins, and how long it is by now. */
interface Place {
  readonly contract: ContractTermsRow;
  readonly now: Date;
  lineLength: number;
  readonly ownLengths: Map<string, number>;
}

async function lockPlace(
  sql: Sql,
  contractId: string,
  asking: readonly Submitting[],
): Promise<Place | null> {
  const [contract] = await queryRows<ContractTermsRow>(
    sql,
    `SELECT ${TERMS_COLUMNS} FROM contracts c WHERE c.id = $1 FOR SHARE`,
    [contractId],
  );
  if (contract === undefined) return null;
  // A row without a length where the line is empty: the time is always there.
  const lengths = await queryRows<{ now: Date; solverId: string | null; length: number }>(
    sql,
    `SELECT date_trunc('milliseconds', clock_timestamp()) AS now, line.solver_id AS "solverId",
       coalesce(line.length, 0) AS length
     FROM (VALUES (1)) AS one LEFT JOIN (
       SELECT CASE WHEN solver_id = ANY($2) THEN solver_id END AS solver_id, count(*)::int AS length
       FROM submissions WHERE contract_id = $1 AND state = ANY($3) GROUP BY 1
     ) AS line ON true`,
    [contractId, asking.map(({ call }) => call.actorId), LINE_STATES],
  );
  const [first] = lengths;
  if (first === undefined) throw new Error('expected the time of the database, got no row');
  return {
    contract,
    now: first.now,
    lineLength: lengths.reduce((sum, { length }) => sum + length, 0),
    ownLengths: new Map(lengths.map(({ solverId, length }) => [solverId ?? '', length])),
  };
}

/** Why the solver stays out; or null, and the line is longer by one. */
function refuse(place: Place, { policy }: ExecuteDeps, { call }: Submitting): Error | null {
  const { contract, now, lineLength, ownLengths } = place;
  const { actorId: solverId } = call;
  const ownLength = ownLengths.get(solverId) ?? 0;
  const facts = { contract: toContractFacts(contract), now, policy, lineLength, ownLength };
  const refusal = refuseSubmit(facts, solverId);
  if (refusal !== null) return refusal;
  if (contract.inviteOnly && !contract.invitedIds.includes(solverId)) {
    return createDbError('DB_SOLVER_NOT_INVITED', {
      message: 'expected a solver whom the contract invites, got another one',
      fix: 'Ask the requester for an invitation.',
    });
  }
  place.lineLength += 1;
  ownLengths.set(solverId, ownLength + 1);
  return null;
}

async function saveAll(
  { sql, queues, streams }: Transaction,
  { sendMany }: ExecuteDeps,
  { contract, now }: Place,
  submitting: readonly Submitting[],
): Promise<void> {
  const contractId = contract.id;
  const saved = await queryRows<{ id: string; seq: bigint }>(
    sql,
    `WITH saved AS (
       INSERT INTO submissions (id, contract_id, solver_id, repository_url, commit, received_at)
       SELECT n.id, $1, n.solver_id, n.url, n.commit, $6
       FROM unnest($2::text[], $3::text[], $4::text[], $5::text[])
         WITH ORDINALITY AS n (id, solver_id, url, commit, place)
       ORDER BY n.place
       ON CONFLICT (contract_id, solver_id, commit)
         WHERE reason IS NULL OR reason NOT IN ('REPOSITORY_UNREACHABLE', 'COMMIT_NOT_FOUND', 'ANCESTRY_UNKNOWN')
         DO NOTHING
       RETURNING id, seq, solver_id
     ), told AS (
       INSERT INTO events (xid, name, actor_id, contract_id, submission_id, audience, data)
       SELECT pg_current_xact_id()::text::bigint, 'submission_received', solver_id, $1, id, 'PARTIES', '{}'
       FROM saved ORDER BY seq
     )
     SELECT id, seq FROM saved`,
    [
      contractId,
      submitting.map(({ id }) => id),
      submitting.map(({ call }) => call.actorId),
      submitting.map(({ input }) => input.repositoryUrl),
      submitting.map(({ input }) => input.commit),
      now,
    ],
  );
  const places = new Map(saved.map(({ id, seq }) => [id, seq]));
  for (const each of submitting) {
    const seq = places.get(each.id);
    each.answer =
      seq === undefined
        ? await createDuplicate(sql, each)
        : toReceived(each, { id: each.id, seq, receivedAt: now, isRepeat: false });
  }
  const jobs = submitting
    .filter(({ id }) => places.has(id))
    .map(({ id: subjectId, call }) => ({ subjectId, contractId, solverId: call.actorId }));
  if (jobs.length === 0) return;
  await sendMany(sql, 'capture', jobs);
  queues.add('capture');
  streams.add(contractId);
}

async function createDuplicate(sql: Sql, { call, input }: Submitting): Promise<Error> {
  const [first] = await queryRows<{ id: string }>(
    sql,
    `SELECT id FROM submissions WHERE contract_id = $1 AND solver_id = $2 AND commit = $3
     ORDER BY seq DESC LIMIT 1`,
    [input.contractId, call.actorId, input.commit],
  );
  const submissionId = first?.id ?? null;
  return createDbError('DB_SUBMISSION_DUPLICATE', {
    message: `expected a commit that you have not submitted yet, got that of ${submissionId}`,
    fix: 'Follow the submission that is there.',
    details: { submissionId },
  });
}

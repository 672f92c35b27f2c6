import { refuseSubmit } from '@kervyxa/settlement';
import { createDbError } from '../errors.ts';
import { createContractUnknown, type ExecuteDeps } from './execute.ts';
import type { Transaction } from './in-transaction.ts';
import { toContractFacts } from './load-case.ts';
import { lockContractSql } from './lock-contract.ts';
import { type ContractTermsRow, TERMS_COLUMNS } from './rows.ts';
import { allAnswered, queryRows, type Sql } from './sql.ts';
import { answerRepeated, forgetKeys, takeKeys } from './submit-keys.ts';
import { type Submit, type Submitted, type Submitting, toReceived } from './submitting.ts';

/** Undecided or deferred. In the text, not a parameter: so the planner knows that few are, however many have ended. */
const LINE_STATES = `'RECEIVED', 'QUEUED', 'RUNNING', 'VERIFIED', 'HELD', 'DEFERRED'`;

/** The words of the unique index: one that ended for its source's sake may come again. */
const IS_FINAL = `reason IS NULL OR reason NOT IN ('REPOSITORY_UNREACHABLE', 'COMMIT_NOT_FOUND', 'ANCESTRY_UNKNOWN')`;

/**
 * Submissions to one contract, in their order, with as many statements as for one.
 *
 * 1. Take the Idempotency-Keys: whoever asked before gets the first answer.
 * 2. Share the contract's lock with submits of other processes, then read time and line. Those of other processes are
 *    not seen: as many may exceed a limit at once. Both are sent together.
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
  const [taken, place] = await allAnswered([takeKeys(sql, all), lockPlace(sql, contractId, all)]);
  await answerRepeated(sql, all, taken);

  const asking = all.filter(isWaiting);
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
  /** Of those who ask, whatever came of them. */
  readonly attempts: Map<string, number>;
  /** Id by solver and commit of what was submitted before. */
  readonly present: Map<string, string>;
}

function toPlaceKey({ solverId, commit }: Present): string {
  return `${solverId} ${commit}`;
}

async function lockPlace(
  sql: Sql,
  contractId: string,
  asking: readonly Submitting[],
): Promise<Place | null> {
  const locked = queryRows<ContractTermsRow>(sql, lockContractSql(TERMS_COLUMNS, 'SHARED'), [
    contractId,
  ]);
  // A row without a length where the line is empty: the time is always there.
  const counted = queryRows<{ now: Date; solverId: string | null; length: number }>(
    sql,
    `SELECT date_trunc('milliseconds', clock_timestamp()) AS now, line.solver_id AS "solverId",
       coalesce(line.length, 0) AS length
     FROM (VALUES (1)) AS one LEFT JOIN (
       SELECT CASE WHEN solver_id = ANY($2) THEN solver_id END AS solver_id, count(*)::int AS length
       FROM submissions WHERE contract_id = $1 AND state IN (${LINE_STATES}) GROUP BY 1
     ) AS line ON true`,
    [contractId, asking.map(({ call }) => call.actorId)],
  );
  const asked = asking.map(({ call, input }) => {
    return { solverId: call.actorId, commit: input.commit };
  });
  const known = findPresent(sql, contractId, asked);
  const tried = queryRows<{ solverId: string; count: number }>(
    sql,
    `SELECT solver_id AS "solverId", count(*)::int AS count FROM submissions
     WHERE contract_id = $1 AND solver_id = ANY($2) AND (${IS_FINAL}) GROUP BY solver_id`,
    [contractId, asking.map(({ call }) => call.actorId)],
  );
  const [[contract], lengths, found, attempts] = await allAnswered([locked, counted, known, tried]);
  const [first] = lengths;
  if (first === undefined) throw new Error('expected the time of the database, got no row');
  if (contract === undefined) return null;
  return {
    contract,
    now: first.now,
    present: new Map(found.map((each) => [toPlaceKey(each), each.id])),
    lineLength: lengths.reduce((sum, { length }) => sum + length, 0),
    attempts: new Map(attempts.map(({ solverId, count }) => [solverId, count])),
    ownLengths: new Map(lengths.map(({ solverId, length }) => [solverId ?? '', length])),
  };
}

/** Why the solver stays out; or null, and the line is longer by one. */
function refuse(place: Place, { policy }: ExecuteDeps, each: Submitting): Error | null {
  const { contract, now, lineLength, ownLengths, present } = place;
  const { actorId: solverId } = each.call;
  const ownLength = ownLengths.get(solverId) ?? 0;
  const attempts = place.attempts.get(solverId) ?? 0;
  const lengths = { lineLength, ownLength, attempts };
  const facts = { contract: toContractFacts(contract), now, policy, ...lengths };
  const refusal = refuseSubmit(facts, solverId);
  if (refusal !== null) return refusal;
  if (contract.inviteOnly && !contract.invitedIds.includes(solverId)) {
    return createDbError('DB_SOLVER_NOT_INVITED', {
      message: 'expected a solver whom the contract invites, got another one',
      fix: 'Ask the requester for an invitation.',
    });
  }
  const key = toPlaceKey({ solverId, commit: each.input.commit });
  const before = present.get(key);
  if (before !== undefined) return createDuplicate(before);
  present.set(key, each.id);
  place.lineLength += 1;
  ownLengths.set(solverId, ownLength + 1);
  place.attempts.set(solverId, attempts + 1);
  return null;
}

async function saveAll(
  { sql, leave, queues, streams }: Transaction,
  { sendMany }: ExecuteDeps,
  { contract, now }: Place,
  submitting: readonly Submitting[],
): Promise<void> {
  const contractId = contract.id;
  const captures = submitting.map(({ id: subjectId, call }) => {
    return { subjectId, contractId, solverId: call.actorId };
  });
  const [saved, planned] = await allAnswered([
    saveRows(sql, contractId, now, submitting),
    sendMany.plan(sql, 'capture', captures),
  ]);
  const places = new Map(saved.map(({ id, seq }) => [id, seq]));
  for (const each of submitting) {
    const seq = places.get(each.id);
    each.answer =
      seq === undefined
        ? await findDuplicate(sql, each)
        : toReceived(each, { id: each.id, seq, receivedAt: now, isRepeat: false });
  }
  const jobs = planned.filter(({ subjectId }) => places.has(subjectId));
  if (jobs.length === 0) return;
  leave(sendMany.send(sql, 'capture', jobs));
  queues.add('capture');
  streams.add(contractId);
}

/** Those that another process's submit was faster with are left out. */
function saveRows(
  sql: Sql,
  contractId: string,
  now: Date,
  submitting: readonly Submitting[],
): Promise<{ id: string; seq: bigint }[]> {
  return queryRows<{ id: string; seq: bigint }>(
    sql,
    `WITH saved AS (
       INSERT INTO submissions (id, contract_id, solver_id, repository_url, commit, received_at)
       SELECT n.id, $1, n.solver_id, n.url, n.commit, $6
       FROM unnest($2::text[], $3::text[], $4::text[], $5::text[])
         WITH ORDINALITY AS n (id, solver_id, url, commit, place)
       ORDER BY n.place
       ON CONFLICT (contract_id, solver_id, commit)
         WHERE ${IS_FINAL}
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
}

async function findDuplicate(sql: Sql, { call, input }: Submitting): Promise<Error> {
  const { contractId, commit } = input;
  const [first] = await findPresent(sql, contractId, [{ solverId: call.actorId, commit }]);
  return createDuplicate(first?.id ?? null);
}

function createDuplicate(submissionId: string | null): Error {
  return createDbError('DB_SUBMISSION_DUPLICATE', {
    message: `expected a commit that you have not submitted yet, got that of ${submissionId}`,
    fix: 'Follow the submission that is there.',
    details: { submissionId },
  });
}

interface Present {
  readonly solverId: string;
  readonly commit: string;
}

/** Which of these commits were submitted before, and may not be again. */
function findPresent(
  sql: Sql,
  contractId: string,
  asked: readonly Present[],
): Promise<(Present & { readonly id: string })[]> {
  return queryRows(
    sql,
    `SELECT s.id, s.solver_id AS "solverId", s.commit
     FROM unnest($2::text[], $3::text[]) AS n (solver_id, commit)
     JOIN submissions s ON s.contract_id = $1 AND s.solver_id = n.solver_id AND s.commit = n.commit
     WHERE ${IS_FINAL}`,
    [contractId, asked.map(({ solverId }) => solverId), asked.map(({ commit }) => commit)],
  );
}

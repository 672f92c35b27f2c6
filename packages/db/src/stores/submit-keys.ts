import { createDbError } from '../errors.ts';
import { createIdempotencyConflict } from './idempotency.ts';
import { queryRows, runChange, type Sql } from './sql.ts';
import { type Submitting, toReceived } from './submitting.ts';

interface Kept {
  readonly solverId: string;
  readonly key: string;
  readonly inputHash: string;
  readonly id: string | null;
  readonly seq: bigint | null;
  readonly receivedAt: Date | null;
}

/**
 * Takes the Idempotency-Keys of all, which have different ones; answers the ids of those that were the first to use
 * theirs. Instead of an answer the key of a submission keeps its id: what it was when it was received never changes.
 */
export async function takeKeys(sql: Sql, all: readonly Submitting[]): Promise<ReadonlySet<string>> {
  const keyed = all.filter(({ call }) => call.idempotency !== null);
  if (keyed.length === 0) return new Set();
  const rows = await queryRows<{ id: string }>(
    sql,
    `INSERT INTO idempotency_keys (principal_id, key, input_hash, status, body)
     SELECT n.solver_id, n.key, n.input_hash, 201, n.id
     FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS n (solver_id, key, input_hash, id)
     ON CONFLICT (principal_id, key) DO NOTHING
     RETURNING body AS id`,
    [
      ...toColumns(keyed),
      keyed.map(({ call }) => call.idempotency?.inputHash),
      keyed.map(({ id }) => id),
    ],
  );
  return new Set(rows.map(({ id }) => id));
}

/** Answers those whose key was used before. */
export async function answerRepeated(
  sql: Sql,
  all: readonly Submitting[],
  taken: ReadonlySet<string>,
): Promise<void> {
  const repeated = all.filter(({ id, call }) => call.idempotency !== null && !taken.has(id));
  if (repeated.length === 0) return;
  const kept = await loadKept(sql, repeated);
  for (const each of repeated) {
    const { actorId, idempotency } = each.call;
    const key = idempotency?.key ?? '';
    const own = kept.find((row) => row.solverId === actorId && row.key === key);
    each.answer = toKeptAnswer(each, key, own);
  }
}

export async function forgetKeys(sql: Sql, refused: readonly Submitting[]): Promise<void> {
  const keyed = refused.filter(({ call }) => call.idempotency !== null);
  if (keyed.length === 0) return;
  await runChange(
    sql,
    `DELETE FROM idempotency_keys WHERE (principal_id, key) IN (
       SELECT * FROM unnest($1::text[], $2::text[]))`,
    toColumns(keyed),
  );
}

function loadKept(sql: Sql, repeated: readonly Submitting[]): Promise<Kept[]> {
  return queryRows<Kept>(
    sql,
    `SELECT k.principal_id AS "solverId", k.key, k.input_hash AS "inputHash", s.id, s.seq,
       s.received_at AS "receivedAt"
     FROM unnest($1::text[], $2::text[]) AS n (solver_id, key)
     JOIN idempotency_keys k ON k.principal_id = n.solver_id AND k.key = n.key
     LEFT JOIN submissions s ON s.id = k.body`,
    toColumns(repeated),
  );
}

function toKeptAnswer(each: Submitting, key: string, kept: Kept | undefined): Submitting['answer'] {
  // Forgotten between the two statements, which takes a key that is days old.
  if (kept === undefined) {
    return createDbError('DB_UNAVAILABLE', {
      message: 'expected the answer kept under the key, got none any more',
      fix: 'Try again.',
    });
  }
  const { inputHash, id, seq, receivedAt } = kept;
  const isOther = inputHash !== each.call.idempotency?.inputHash;
  if (isOther || id === null || seq === null || receivedAt === null) {
    return createIdempotencyConflict(key);
  }
  return toReceived(each, { id, seq, receivedAt, isRepeat: true });
}

function toColumns(submits: readonly Submitting[]): readonly [solverIds: string[], keys: string[]] {
  return [
    submits.map(({ call }) => call.actorId),
    submits.map(({ call }) => call.idempotency?.key ?? ''),
  ];
}

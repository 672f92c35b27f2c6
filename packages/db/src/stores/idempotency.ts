import type { Answer, Call } from '../ports.ts';
import { createDbError } from '../errors.ts';
import { queryRows, runChange, type Sql } from './sql.ts';

/**
 * Does the work once for its Idempotency-Key, in the caller's transaction, and keeps the answer with it: a second
 * request waits for the first and gets the same bytes. The key comes before every other lock. Throws
 * DB_IDEMPOTENCY_CONFLICT where the key was used for another input.
 */
export async function answerOnce(
  sql: Sql,
  { actorId, idempotency }: Call,
  work: () => Promise<Answer>,
): Promise<Answer> {
  if (idempotency === null) return work();
  const { key, inputHash } = idempotency;
  const isFirst = await runChange(
    sql,
    `INSERT INTO idempotency_keys (principal_id, key, input_hash, status, body)
     VALUES ($1, $2, $3, 200, '') ON CONFLICT (principal_id, key) DO NOTHING`,
    [actorId, key, inputHash],
  );
  if (isFirst === 0) return loadAnswer(sql, actorId, { key, inputHash });
  const answer = await work();
  await runChange(
    sql,
    'UPDATE idempotency_keys SET status = $3, body = $4 WHERE principal_id = $1 AND key = $2',
    [actorId, key, answer.status, answer.body],
  );
  return answer;
}

export function createIdempotencyConflict(key: string): Error {
  return createDbError('DB_IDEMPOTENCY_CONFLICT', {
    message: `expected the request that the key ${JSON.stringify(key)} was used for, got another one`,
    fix: 'Give each request an Idempotency-Key of its own, and repeat a request unchanged.',
  });
}

async function loadAnswer(
  sql: Sql,
  actorId: string,
  { key, inputHash }: NonNullable<Call['idempotency']>,
): Promise<Answer> {
  const [kept] = await queryRows<Answer & { inputHash: string }>(
    sql,
    `SELECT status, body, input_hash AS "inputHash" FROM idempotency_keys
     WHERE principal_id = $1 AND key = $2`,
    [actorId, key],
  );
  // Forgotten between the two statements, which takes a key that is days old.
  if (kept === undefined) {
    throw createDbError('DB_UNAVAILABLE', {
      message: 'expected the answer kept under the key, got none any more',
      fix: 'Try again.',
    });
  }
  if (kept.inputHash !== inputHash) throw createIdempotencyConflict(key);
  return { status: kept.status, body: kept.body };
}

import { createDbError } from '../errors.ts';
import type { Upkeep } from '../ports.ts';
import { forgetHalfBlobs, forgetUnusedBlobs } from './blobs.ts';
import type { ExecuteDeps } from './execute.ts';
import type { Connections } from './in-transaction.ts';
import { resendLost } from './lost-jobs.ts';
import { createSigningKeyUpkeep } from './signing-keys.ts';
import { queryRows, runChange, type Sql } from './sql.ts';

const OPERATOR = 'operator';
const FIRST_START_LOCK = 'kervyxa first operator';

export function createUpkeep(
  connections: Connections,
  { newId, sendJob }: Pick<ExecuteDeps, 'newId' | 'sendJob'>,
): Upkeep {
  const { pool, transact } = connections;
  return {
    ...createSigningKeyUpkeep(connections),
    addOperatorKey: (keyHash, { onlyFirst }) =>
      transact(async ({ sql }) => {
        await runChange(sql, 'SELECT pg_advisory_xact_lock(hashtext($1))', [FIRST_START_LOCK]);
        const operators = await queryRows(
          sql,
          `SELECT 1 FROM principals WHERE roles @> ARRAY['operator'] LIMIT 1`,
        );
        if (onlyFirst && operators.length > 0) return false;
        const id = await openOperator(sql, newId('principal'));
        await runChange(
          sql,
          'INSERT INTO api_keys (id, principal_id, hash, label) VALUES ($1, $2, $3, $4)',
          [newId('key'), id, keyHash, onlyFirst ? 'first start' : 'added'],
        );
        return true;
      }),
    forgetAnswers: (olderThanMs, limit) =>
      runChange(
        pool,
        `DELETE FROM idempotency_keys WHERE (principal_id, key) IN (
           SELECT principal_id, key FROM idempotency_keys
           WHERE created_at < now() - $1 * interval '1 millisecond' ORDER BY created_at LIMIT $2)`,
        [olderThanMs, limit],
      ),
    forgetHalfBlobs: (olderThanMs, limit) => forgetHalfBlobs(pool, olderThanMs, limit),
    forgetUnusedBlobs: (olderThanMs, limit) => forgetUnusedBlobs(pool, olderThanMs, limit),
    resendLost: (limit) => resendLost(connections, { sendJob }, limit),
  };
}

/** The principal of that name, made where there is none. */
async function openOperator(sql: Sql, newId: string): Promise<string> {
  await runChange(
    sql,
    'INSERT INTO principals (id, name, roles) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING',
    [newId, OPERATOR, [OPERATOR]],
  );
  const [operator] = await queryRows<{ id: string }>(
    sql,
    'SELECT id FROM principals WHERE name = $1 AND roles @> ARRAY[$1::text] AND disabled_at IS NULL',
    [OPERATOR],
  );
  if (operator !== undefined) return operator.id;
  throw createDbError('DB_PRINCIPAL_DUPLICATE', {
    message: `expected the principal named ${OPERATOR} to be one, got another one of that name`,
    fix: 'Rename or enable that principal.',
  });
}

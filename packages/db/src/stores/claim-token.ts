import type { IdSource } from '@kervyxa/core';
import { queryRows, runChange, type Sql } from './sql.ts';

/** The token that a solver puts into the commit message; made when first asked for, the same ever after. */
export async function loadClaimToken(
  sql: Sql,
  newId: IdSource,
  contractId: string,
  solverId: string,
): Promise<string> {
  const known = await findToken(sql, contractId, solverId);
  if (known !== null) return known;
  await runChange(
    sql,
    'INSERT INTO claim_tokens (contract_id, solver_id, token) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
    [contractId, solverId, newId('claim')],
  );
  const made = await findToken(sql, contractId, solverId);
  if (made === null) throw new Error('expected the claim token that was just made, got none');
  return made;
}

async function findToken(sql: Sql, contractId: string, solverId: string): Promise<string | null> {
  const [row] = await queryRows<{ token: string }>(
    sql,
    'SELECT token FROM claim_tokens WHERE contract_id = $1 AND solver_id = $2',
    [contractId, solverId],
  );
  return row?.token ?? null;
}

import { isAppError } from '@kervyxa/core';
import type { CaseStore, Command, Decision } from '@kervyxa/settlement';
import type pg from 'pg';
import { execute, type ExecuteDeps } from './execute.ts';
import type { Connections, Transact } from './in-transaction.ts';
import { queryRows } from './sql.ts';

/** `submit` is refused here as a defect: it takes the fast path. */
export function createCaseStore({ pool, transact }: Connections, deps: ExecuteDeps): CaseStore {
  return {
    execute: (contractId, command) => executeAlone(transact, deps, contractId, command),
    listDue: (limit) => listDue(pool, limit),
  };
}

async function executeAlone(
  transact: Transact,
  deps: ExecuteDeps,
  contractId: string,
  command: Command,
): Promise<Decision> {
  try {
    return await transact((transaction) =>
      execute(transaction, deps, { contractId, command, actorId: null }),
    );
  } catch (error) {
    // What is found out while money moves is a refusal like any other, but must undo what was done before it.
    if (isAppError(error) && error.code === 'SETTLEMENT_FUNDS_INSUFFICIENT') {
      return { kind: 'refused', error };
    }
    throw error;
  }
}

async function listDue(pool: pg.Pool, limit: number): Promise<readonly string[]> {
  const rows = await queryRows<{ id: string }>(
    pool,
    'SELECT id FROM contracts WHERE next_due_at <= clock_timestamp() ORDER BY next_due_at LIMIT $1',
    [limit],
  );
  return rows.map(({ id }) => id);
}

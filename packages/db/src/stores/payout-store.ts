import { planPayoutConfirmed } from '@kervyxa/settlement';
import { createDbError } from '../errors.ts';
import type { Payout } from '../generated/client.ts';
import { Prisma } from '../generated/client.ts';
import type { Audience, PayoutStore } from '../ports.ts';
import { addEvents } from './add-events.ts';
import type { ExecuteDeps } from './execute.ts';
import type { Connections, Transaction } from './in-transaction.ts';
import { loadNow } from './load-case.ts';
import { recordTransfer } from './record-transfer.ts';
import { columnsOf, queryRows, runChange, type Sql } from './sql.ts';

const PAYOUT_COLUMNS = columnsOf(Prisma.PayoutScalarFieldEnum, 'p');

/** Payouts of the webhook rail, which is told of each until it has confirmed. */
export function createPayoutStore(
  { pool, transact }: Connections,
  { newId }: ExecuteDeps,
): PayoutStore {
  return {
    takeDue: (limit, leaseMs) => takeDue(pool, limit, leaseMs),
    countDue: () => countDue(pool),
    confirm: (payoutId) =>
      transact(async (transaction) => {
        const payout = await lockPayout(transaction.sql, payoutId);
        if (payout === null || payout.state === 'CONFIRMED') return;
        const { contractId } = payout;
        const now = await loadNow(transaction.sql);
        const planned = planPayoutConfirmed({ ...payout, payoutId });
        await recordTransfer(transaction.sql, planned, { id: newId('transfer'), contractId, now });
        await runChange(
          transaction.sql,
          `UPDATE payouts SET state = 'CONFIRMED', confirmed_at = $2, last_problem = NULL WHERE id = $1`,
          [payoutId, now],
        );
        await tell(transaction, payout, {
          name: 'payout_confirmed',
          audience: 'PARTIES',
          actorId: null,
        });
      }),
    fail: (payoutId, problem, retryInMs) =>
      transact(async (transaction) => {
        const payout = await lockPayout(transaction.sql, payoutId);
        if (payout === null || payout.state !== 'DUE') return;
        await runChange(
          transaction.sql,
          `UPDATE payouts SET tries = tries + 1, last_problem = $2,
             state = CASE WHEN $3::bigint IS NULL THEN 'HELD' ELSE state END,
             next_try_at = clock_timestamp() + coalesce($3::bigint, 0) * interval '1 millisecond'
           WHERE id = $1`,
          [payoutId, problem, retryInMs],
        );
        if (retryInMs !== null) return;
        await tell(transaction, payout, { name: 'payout_held', audience: 'OWNER', actorId: null });
      }),
  };
}

/** Throws DB_PAYOUT_NOT_HELD. */
export async function retryPayout(
  transaction: Transaction,
  payoutId: string,
  actorId: string,
): Promise<void> {
  const payout = await lockPayout(transaction.sql, payoutId);
  if (payout?.state !== 'HELD') {
    throw createDbError('DB_PAYOUT_NOT_HELD', {
      message: `expected the id of a payout that is HELD, got one that is ${payout?.state ?? 'unknown'}`,
      fix: 'Look whether it was confirmed or is being tried.',
    });
  }
  await runChange(
    transaction.sql,
    `UPDATE payouts SET state = 'DUE', next_try_at = clock_timestamp() WHERE id = $1`,
    [payoutId],
  );
  await tell(transaction, payout, { name: 'payout_due', audience: 'OWNER', actorId });
}

/** The next try is put off by the lease: whoever takes it and is lost has only delayed it. */
async function takeDue(
  sql: Sql,
  limit: number,
  leaseMs: number,
): Promise<Awaited<ReturnType<PayoutStore['takeDue']>>> {
  const rows = await queryRows<Payout>(
    sql,
    `UPDATE payouts p SET next_try_at = clock_timestamp() + $2 * interval '1 millisecond'
     WHERE id IN (
       SELECT id FROM payouts WHERE state = 'DUE' AND next_try_at <= clock_timestamp()
       ORDER BY next_try_at LIMIT $1 FOR UPDATE SKIP LOCKED)
     RETURNING ${PAYOUT_COLUMNS}`,
    [limit, leaseMs],
  );
  return rows.map(({ id, solverId, contractId, amountMinor, currency, tries, createdAt }) => {
    return { id, solverId, contractId, amountMinor, currency, tries, createdAt };
  });
}

async function countDue(sql: Sql): Promise<number> {
  const [row] = await queryRows<{ count: number }>(
    sql,
    `SELECT count(*)::int AS count FROM payouts WHERE state = 'DUE'`,
  );
  return row?.count ?? 0;
}

async function lockPayout(sql: Sql, id: string): Promise<Payout | null> {
  const [payout] = await queryRows<Payout>(
    sql,
    `SELECT ${PAYOUT_COLUMNS} FROM payouts p WHERE p.id = $1 FOR UPDATE`,
    [id],
  );
  return payout ?? null;
}

async function tell(
  { sql, streams }: Transaction,
  { id, contractId, submissionId }: Payout,
  told: { readonly name: string; readonly audience: Audience; readonly actorId: string | null },
): Promise<void> {
  const about = { runId: null, challengeId: null, contractId, submissionId };
  await addEvents(sql, [{ ...about, ...told, data: { payoutId: id } }]);
  streams.add(contractId);
}

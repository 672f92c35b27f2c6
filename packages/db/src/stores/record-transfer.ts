import { AMOUNT_MINOR_MAX } from '@kervyxa/core';
import {
  type ChainHead,
  createLedgerFull,
  createSettlementError,
  inputHashOf,
  linkTransfer,
  mayOverdraw,
  type PlannedTransfer,
} from '@kervyxa/settlement';
import { queryRows, runChange, type Sql } from './sql.ts';

/** Whose transfer it is and when, besides what is planned. */
export interface TransferFacts {
  /** Its id, unless the transfer was recorded before. */
  readonly id: string;
  readonly contractId: string | null;
  /** Database time, whole milliseconds. */
  readonly now: Date;
}

/**
 * Records a transfer as the next link of the chain, in the caller's transaction, and answers its id. The head of the
 * chain stays locked until then; whoever holds a contract's lock takes this one after it, never the other way round.
 * What was recorded for the same key is answered again. Throws SETTLEMENT_FUNDS_INSUFFICIENT, SETTLEMENT_LEDGER_FULL,
 * and SETTLEMENT_TRANSFER_CONFLICT where the key was used for another transfer.
 */
export async function recordTransfer(
  sql: Sql,
  planned: PlannedTransfer,
  { id, contractId, now }: TransferFacts,
): Promise<string> {
  const [head] = await queryRows<ChainHead>(
    sql,
    'SELECT seq, hash FROM ledger_head WHERE id = 1 FOR UPDATE',
  );
  if (head === undefined) throw new Error('expected the head of the ledger, got no row');
  const recorded = await findRecorded(sql, planned);
  if (recorded !== null) return recorded;

  await openAccounts(sql, planned);
  await assertFunds(sql, planned);
  const link = linkTransfer(head, planned, { id, recordedAt: now });
  await runChange(
    sql,
    `INSERT INTO ledger_transfers
       (id, seq, kind, idempotency_key, input_hash, currency, contract_id, prev_hash, hash, recorded_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      id,
      link.seq,
      link.kind,
      link.idempotencyKey,
      link.inputHash,
      link.currency,
      contractId,
      link.prevHash,
      link.hash,
      now,
    ],
  );
  await runChange(
    sql,
    `INSERT INTO ledger_postings (transfer_id, index, source, destination, amount_minor)
     SELECT $1, p.index - 1, p.source, p.destination, p.amount_minor
     FROM unnest($2::text[], $3::text[], $4::bigint[])
       WITH ORDINALITY AS p (source, destination, amount_minor, index)`,
    [
      id,
      link.postings.map(({ source }) => source),
      link.postings.map(({ destination }) => destination),
      link.postings.map(({ amountMinor }) => amountMinor),
    ],
  );
  return id;
}

async function findRecorded(sql: Sql, planned: PlannedTransfer): Promise<string | null> {
  const [recorded] = await queryRows<{ id: string; inputHash: string }>(
    sql,
    'SELECT id, input_hash AS "inputHash" FROM ledger_transfers WHERE idempotency_key = $1',
    [planned.idempotencyKey],
  );
  if (recorded === undefined) return null;
  if (recorded.inputHash === inputHashOf(planned)) return recorded.id;
  throw createSettlementError('SETTLEMENT_TRANSFER_CONFLICT', {
    message: `expected the transfer that was recorded for ${planned.idempotencyKey}, got another one`,
    fix: 'Give other money a key or reference of its own.',
    details: { kind: planned.kind, idempotencyKey: planned.idempotencyKey },
  });
}

async function openAccounts(sql: Sql, { currency, postings }: PlannedTransfer): Promise<void> {
  const names = postings.flatMap(({ source, destination }) => [source, destination]);
  const accounts = [...new Set(names)].toSorted();
  await runChange(
    sql,
    `INSERT INTO ledger_accounts (name, currency, may_overdraw)
     SELECT name, $1, may_overdraw FROM unnest($2::text[], $3::boolean[]) AS a (name, may_overdraw)
     ON CONFLICT (name) DO NOTHING`,
    [currency, accounts, accounts.map(mayOverdraw)],
  );
}

/** A CHECK constraint is the last wall; this says how much is there and how much is needed. */
async function assertFunds(sql: Sql, { currency, postings }: PlannedTransfer): Promise<void> {
  const needs = new Map<string, bigint>();
  for (const { source, amountMinor } of postings) {
    needs.set(source, (needs.get(source) ?? 0n) + amountMinor);
  }
  const balances = await queryRows<{ name: string; balanceMinor: bigint; mayOverdraw: boolean }>(
    sql,
    `SELECT name, balance_minor AS "balanceMinor", may_overdraw AS "mayOverdraw"
     FROM ledger_accounts WHERE name = ANY($1)`,
    [[...needs.keys()]],
  );
  for (const { name, balanceMinor, mayOverdraw: isBottomless } of balances) {
    const need = needs.get(name) ?? 0n;
    if (isBottomless && need - balanceMinor > AMOUNT_MINOR_MAX)
      throw createLedgerFull(currency, need - balanceMinor);
    if (isBottomless || balanceMinor >= need) continue;
    throw createSettlementError('SETTLEMENT_FUNDS_INSUFFICIENT', {
      message: `expected at least ${need} minor units of ${currency} in ${name}, got ${balanceMinor}`,
      fix: `Have ${need - balanceMinor} minor units of ${currency} or more deposited, then ask again.`,
      details: {
        account: name,
        currency,
        needMinor: String(need),
        balanceMinor: String(balanceMinor),
      },
    });
  }
}

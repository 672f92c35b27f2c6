import { available, CHAIN_START, type ChainHead, checkChain } from '@kervyxa/settlement';
import type { Reads } from '../ports.ts';
import type { Connections } from './in-transaction.ts';
import { toPage, toSlice } from './pages.ts';
import { queryRows, runChange, type Sql } from './sql.ts';
import { loadTransfers, toTransferRow } from './transfers.ts';

type LedgerReads = Pick<Reads, 'balances' | 'listTransfers' | 'trialBalance' | 'checkLedger'>;

interface AccountRow {
  readonly name: string;
  readonly currency: string;
  readonly balanceMinor: bigint;
}

const WALK_PAGE = 1_000;

export function createLedgerReads({
  pool,
  transact,
}: Pick<Connections, 'pool' | 'transact'>): LedgerReads {
  return {
    balances: async (principalId) => {
      const accounts = await loadAccounts(pool, principalId);
      return new Map(accounts.map(({ currency, balanceMinor }) => [currency, balanceMinor]));
    },
    listTransfers: async (principalId, page) => {
      const slice = toSlice(page);
      const filter = { afterSeq: slice.after ?? 0n, limit: slice.take };
      if (principalId === null) {
        return toPage(await loadTransfers(pool, filter), slice, toTransferRow);
      }
      const accounts = (await loadAccounts(pool, principalId)).map(({ name }) => name);
      return toPage(await loadTransfers(pool, { ...filter, accounts }), slice, toTransferRow);
    },
    trialBalance: async () => {
      const rows = await queryRows<AccountRow>(
        pool,
        `SELECT name, currency, balance_minor AS "balanceMinor" FROM ledger_accounts ORDER BY name`,
      );
      return rows.map(({ name: account, currency, balanceMinor }) => {
        return { account, currency, balanceMinor };
      });
    },
    // All of it as it was at one moment, whatever is booked meanwhile.
    checkLedger: () =>
      transact(async ({ sql }) => {
        await runChange(sql, 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
        return checkLedger(sql);
      }),
  };
}

/**
 * 1. Every transfer has postings.
 * 2. Each transfer follows from the one before, from the first to the head.
 * 3. Each balance is what these transfers make it, in their currency, and nothing else.
 */
async function checkLedger(sql: Sql): ReturnType<Reads['checkLedger']> {
  const empty = await findEmpty(sql);
  if (empty !== null) return { transferCount: 0n, problem: empty };
  const { problem, head } = await walkChain(sql);
  return {
    transferCount: head.seq,
    problem: problem ?? (await findLostTail(sql, head)) ?? (await findWrongBalance(sql, head)),
  };
}

async function walkChain(sql: Sql): Promise<ReturnType<typeof checkChain>> {
  for (let head = CHAIN_START; ;) {
    const transfers = await loadTransfers(sql, { afterSeq: head.seq, limit: WALK_PAGE });
    const checked = checkChain(transfers, head);
    if (checked.problem !== null || transfers.length < WALK_PAGE) return checked;
    head = checked.head;
  }
}

/** What the principal can spend, in each currency. */
function loadAccounts(sql: Sql, principalId: string): Promise<AccountRow[]> {
  return queryRows<AccountRow>(
    sql,
    `SELECT name, currency, balance_minor AS "balanceMinor" FROM ledger_accounts WHERE name ^@ $1`,
    [available(principalId, '')],
  );
}

async function findEmpty(sql: Sql): Promise<string | null> {
  const [empty] = await queryRows<{ id: string }>(
    sql,
    `SELECT id FROM ledger_transfers t
     WHERE NOT EXISTS (SELECT FROM ledger_postings p WHERE p.transfer_id = t.id) ORDER BY seq LIMIT 1`,
  );
  return empty === undefined ? null : `transfer ${empty.id}: expected postings, got none`;
}

/** The head is kept beside the chain, so that the last transfers can't go unnoticed. */
async function findLostTail(sql: Sql, { seq, hash }: ChainHead): Promise<string | null> {
  const [head] = await queryRows<ChainHead>(sql, 'SELECT seq, hash FROM ledger_head WHERE id = 1');
  if (head?.seq === seq && head.hash === hash) return null;
  return `the chain ends at number ${seq}, its head says ${head?.seq ?? 'nothing'}`;
}

/** Balances are kept beside the postings, so they may be wrong though the chain is whole. */
async function findWrongBalance(sql: Sql, { seq }: ChainHead): Promise<string | null> {
  const [wrong] = await queryRows<{ name: string; balance: bigint; posted: string }>(
    sql,
    `WITH posting AS (
       SELECT p.source, p.destination, t.currency, p.amount_minor AS amount
       FROM ledger_postings p JOIN ledger_transfers t ON t.id = p.transfer_id WHERE t.seq BETWEEN 1 AND $1
     ), posted AS (
       SELECT name, currency, sum(amount) AS amount FROM (
         SELECT destination AS name, currency, amount FROM posting
         UNION ALL SELECT source, currency, -amount FROM posting) AS half
       GROUP BY name, currency
     )
     SELECT name, coalesce(a.balance_minor, 0) AS balance, coalesce(p.amount, 0)::text AS posted
     FROM ledger_accounts a FULL JOIN posted p USING (name, currency)
     WHERE coalesce(a.balance_minor, 0) <> coalesce(p.amount, 0) ORDER BY name LIMIT 1`,
    [seq],
  );
  if (wrong === undefined) return null;
  return `account ${wrong.name}: its postings make ${wrong.posted}, its balance is ${wrong.balance}`;
}

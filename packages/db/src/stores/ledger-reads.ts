import { available, CHAIN_START, checkChain } from '@kervyxa/settlement';
import type pg from 'pg';
import type { Reads } from '../ports.ts';
import { toPage, toSlice } from './pages.ts';
import { queryRows, type Sql } from './sql.ts';
import { loadTransfers, toTransferRow } from './transfers.ts';

type LedgerReads = Pick<Reads, 'balances' | 'listTransfers' | 'trialBalance' | 'checkLedger'>;

interface AccountRow {
  readonly name: string;
  readonly currency: string;
  readonly balanceMinor: bigint;
}

const WALK_PAGE = 1_000;

export function createLedgerReads(pool: pg.Pool): LedgerReads {
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
    checkLedger: async () => {
      let head = CHAIN_START;
      for (;;) {
        const transfers = await loadTransfers(pool, { afterSeq: head.seq, limit: WALK_PAGE });
        const checked = checkChain(transfers, head);
        head = checked.head;
        if (checked.problem !== null || transfers.length < WALK_PAGE) {
          const problem = checked.problem ?? (await findWrongBalance(pool));
          return { transferCount: head.seq, problem };
        }
      }
    },
  };
}

/** What the principal can spend, in each currency. */
function loadAccounts(sql: Sql, principalId: string): Promise<AccountRow[]> {
  return queryRows<AccountRow>(
    sql,
    `SELECT name, currency, balance_minor AS "balanceMinor" FROM ledger_accounts WHERE name ^@ $1`,
    [available(principalId, '')],
  );
}

/** Balances are kept beside the postings, so they may be wrong though the chain is whole. */
async function findWrongBalance(sql: Sql): Promise<string | null> {
  const [wrong] = await queryRows<{ name: string; balance: bigint; posted: bigint }>(
    sql,
    `SELECT a.name, a.balance_minor AS balance, coalesce(sum(p.amount), 0)::bigint AS posted
     FROM ledger_accounts a LEFT JOIN (
       SELECT destination AS name, amount_minor AS amount FROM ledger_postings
       UNION ALL SELECT source, -amount_minor FROM ledger_postings) AS p ON p.name = a.name
     GROUP BY a.name HAVING a.balance_minor <> coalesce(sum(p.amount), 0) LIMIT 1`,
  );
  if (wrong === undefined) return null;
  return `account ${wrong.name}: its postings make ${wrong.posted}, its balance is ${wrong.balance}`;
}

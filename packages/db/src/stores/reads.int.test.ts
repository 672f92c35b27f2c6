import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ContractState } from '@kervyxa/settlement';
import { QUEUES } from '../ports.ts';
import { openStores, type Stores, TERMS } from '../testing/open-stores.ts';

let stores: Stores;
beforeAll(async () => {
  stores = await openStores();
});
afterAll(() => stores.close());

async function listAll(filter: {
  readonly states?: readonly ContractState[] | null;
  readonly requesterId?: string | null;
  readonly viewer?: { readonly id: string; readonly seesInviteOnly: boolean } | null;
}): Promise<string[]> {
  const all: string[] = [];
  let after: string | null = null;
  do {
    const whole = { states: null, requesterId: null, viewer: null, ...filter };
    const page: Awaited<ReturnType<typeof stores.reads.listContracts>> =
      await stores.reads.listContracts(whole, { limit: 2, after });
    expect(page.items.length).toBeLessThanOrEqual(2);
    all.push(...page.items.map(({ id }) => id));
    after = page.next;
  } while (after !== null);
  return all;
}

describe('lists of contracts', () => {
  it('come newest first, page by page, each once', async () => {
    const requesterId = await stores.bench.addPrincipal();
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1) {
      ids.push(await stores.bench.seedContract({ ...TERMS, requesterId }));
    }
    expect(await listAll({ requesterId })).toEqual(ids.toReversed());
  });

  it('S18 show a stranger no draft, and no invitation of another', async () => {
    const { contractId: open, requesterId } = await stores.openContract();
    const { contractId: closed } = await stores.openContract({ requesterId });
    const draft = await stores.bench.seedContract({ ...TERMS, requesterId });
    const [guest, stranger] = [
      await stores.bench.addPrincipal(),
      await stores.bench.addPrincipal(),
    ];
    const sql = await stores.test.pool.connect();
    await sql.query('SET session_replication_role = replica');
    await sql.query('UPDATE contracts SET invite_only = true, invited_ids = $2 WHERE id = $1', [
      closed,
      [guest],
    ]);
    sql.release(true);
    const seenBy = (id: string, seesInviteOnly = false) =>
      listAll({ requesterId, viewer: { id, seesInviteOnly } });
    expect(await seenBy(stranger)).toEqual([open]);
    expect(await seenBy(guest)).toEqual([closed, open]);
    expect(await seenBy(stranger, true)).toEqual([closed, open]);
    expect(await seenBy(requesterId)).toEqual([draft, closed, open]);
    expect(await listAll({ requesterId, viewer: null })).toEqual([draft, closed, open]);
    expect(await listAll({ requesterId, states: ['DRAFT'] })).toEqual([draft]);
  });

  it.each(['', 'x', '-1', '1.5', '9'.repeat(20)])('refuse %j as a cursor', async (after) => {
    const filter = { states: null, requesterId: null, viewer: null };
    const listing = stores.reads.listContracts(filter, { limit: 2, after });
    await expect(listing).rejects.toMatchObject({ code: 'DB_CURSOR_INVALID' });
  });
});

// Keeps R-LEDGER-ZERO.
describe('the ledger', () => {
  it('shows each principal its own transfers, in the order of the chain', async () => {
    const { contractId, requesterId } = await stores.openContract();
    await stores.cases.execute(contractId, { kind: 'cancel' });
    const page = { limit: 2, after: null };
    const first = await stores.reads.listTransfers(requesterId, page);
    const rest = await stores.reads.listTransfers(requesterId, { ...page, after: first.next });
    const all = [...first.items, ...rest.items];
    expect(all.map(({ kind }) => kind)).toEqual(['deposit', 'escrow_funded', 'escrow_refunded']);
    expect(rest.next).toBeNull();
    const stranger = await stores.bench.addPrincipal();
    expect((await stores.reads.listTransfers(stranger, page)).items).toEqual([]);
    expect((await stores.reads.listTransfers(null, { limit: 200, after: null })).items.length).toBe(
      Number((await stores.reads.checkLedger()).transferCount),
    );
  });

  it('finds a changed posting, and a balance that is not what was posted', async () => {
    await stores.openContract();
    const sql = await stores.test.pool.connect();
    await sql.query('SET session_replication_role = replica');
    try {
      await sql.query(
        `UPDATE ledger_accounts SET balance_minor = balance_minor + 1 WHERE name LIKE 'escrow/%'`,
      );
      expect((await stores.reads.checkLedger()).problem).toMatch(/^account escrow\//);
      await sql.query(
        `UPDATE ledger_accounts SET balance_minor = balance_minor - 1 WHERE name LIKE 'escrow/%'`,
      );
      expect((await stores.reads.checkLedger()).problem).toBeNull();
      await sql.query('UPDATE ledger_postings SET amount_minor = amount_minor + 1');
      expect((await stores.reads.checkLedger()).problem).toMatch(/postings were changed/);
    } finally {
      await sql.query('UPDATE ledger_postings SET amount_minor = amount_minor - 1');
      sql.release(true);
    }
  });

  // Whoever owns the database can switch its rules off.
  it.each([
    [
      'deletes the last transfer, its postings and what it moved',
      `WITH gone AS (DELETE FROM ledger_transfers WHERE seq = (SELECT seq FROM ledger_head) RETURNING id),
         undone AS (DELETE FROM ledger_postings USING gone WHERE transfer_id = gone.id RETURNING *)
       UPDATE ledger_accounts SET balance_minor = balance_minor
         + CASE WHEN name = undone.source THEN amount_minor ELSE -amount_minor END
       FROM undone WHERE name IN (undone.source, undone.destination)`,
      /^the chain ends at number/,
    ],
    [
      'deletes only the postings of a transfer',
      'DELETE FROM ledger_postings WHERE transfer_id = (SELECT id FROM ledger_transfers WHERE seq = 1)',
      /^transfer .*: expected postings, got none$/,
    ],
    [
      'moves money by postings of no transfer',
      `WITH new AS (INSERT INTO ledger_postings
           SELECT 'tfr_none', 0, 'outside/deposits/USD', name, 7 FROM ledger_accounts
           WHERE name LIKE 'principal/%' LIMIT 1 RETURNING *)
       UPDATE ledger_accounts SET balance_minor = balance_minor + CASE WHEN name = new.source THEN -7 ELSE 7 END
       FROM new WHERE name IN (new.source, new.destination)`,
      /^account /,
    ],
    [
      'moves money by a transfer before the first',
      `WITH first AS (INSERT INTO ledger_transfers
           SELECT 'tfr_zero', 0, kind, 'zero', input_hash, currency, NULL, repeat('e', 64), repeat('f', 64), now()
           FROM ledger_transfers WHERE seq = 1),
         new AS (INSERT INTO ledger_postings
           SELECT 'tfr_zero', 0, 'outside/deposits/USD', name, 7 FROM ledger_accounts
           WHERE name LIKE 'principal/%' LIMIT 1 RETURNING *)
       UPDATE ledger_accounts SET balance_minor = balance_minor + CASE WHEN name = new.source THEN -7 ELSE 7 END
       FROM new WHERE name IN (new.source, new.destination)`,
      /^account /,
    ],
    [
      'has an account count in other money',
      `UPDATE ledger_accounts SET currency = 'EUR' WHERE name LIKE 'escrow/%' AND balance_minor > 0`,
      /^account escrow\//,
    ],
    [
      'deletes an account',
      `DELETE FROM ledger_accounts WHERE name LIKE 'escrow/%' AND balance_minor > 0`,
      /^account escrow\//,
    ],
  ])('whose owner %s is caught', async (_deed, script, problem) => {
    await stores.openContract();
    await tamper(script, async () => {
      expect((await stores.reads.checkLedger()).problem).toMatch(problem);
    });
    expect((await stores.reads.checkLedger()).problem).toBeNull();
  });
});

/** Changes what rules protect, looks, and puts everything back. */
async function tamper(script: string, look: () => Promise<void>): Promise<void> {
  const tables = ['ledger_transfers', 'ledger_postings', 'ledger_accounts', 'ledger_head'];
  const sql = await stores.test.pool.connect();
  try {
    await sql.query('SET session_replication_role = replica');
    for (const table of tables)
      await sql.query(`CREATE TEMP TABLE kept_${table} AS TABLE ${table}`);
    await sql.query(script);
    await look();
    for (const table of tables) {
      await sql.query(`DELETE FROM ${table}`);
      await sql.query(`INSERT INTO ${table} SELECT * FROM kept_${table}`);
    }
  } finally {
    sql.release(true);
  }
}

describe('the status', () => {
  it('counts submissions by state and jobs by queue', async () => {
    const { contractId } = await stores.openContract();
    await stores.submitCaptured(contractId);
    const { queues, submissionsByState } = await stores.reads.status();
    expect(submissionsByState['QUEUED']).toBe(1);
    expect(queues.map(({ name }) => name).toSorted()).toEqual([...QUEUES].toSorted());
  });
});

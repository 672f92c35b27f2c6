import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ContractState } from '@kervyxa/settlement';
import { openStores, type Stores, TERMS } from '../testing/open-stores.ts';

let stores: Stores;
beforeAll(async () => {
  stores = await openStores();
});
afterAll(() => stores.close());

async function listAll(filter: {
  readonly states?: readonly ContractState[] | null;
  readonly requesterId?: string | null;
  readonly viewerId?: string | null;
}): Promise<string[]> {
  const all: string[] = [];
  let after: string | null = null;
  do {
    const whole = { states: null, requesterId: null, viewerId: null, ...filter };
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
    expect(await listAll({ requesterId, viewerId: stranger })).toEqual([open]);
    expect(await listAll({ requesterId, viewerId: guest })).toEqual([closed, open]);
    expect(await listAll({ requesterId, viewerId: requesterId })).toEqual([draft, closed, open]);
    expect(await listAll({ requesterId, viewerId: null })).toEqual([draft, closed, open]);
    expect(await listAll({ requesterId, states: ['DRAFT'] })).toEqual([draft]);
  });

  it.each(['', 'x', '-1', '1.5', '9'.repeat(20)])('refuse %j as a cursor', async (after) => {
    const filter = { states: null, requesterId: null, viewerId: null };
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
});

describe('the status', () => {
  it('counts submissions by state and jobs by queue', async () => {
    const { contractId } = await stores.openContract();
    await stores.submitCaptured(contractId);
    const { queues, submissionsByState } = await stores.reads.status();
    expect(submissionsByState['QUEUED']).toBe(1);
    expect(queues.map(({ name }) => name).toSorted()).toEqual(['approve', 'capture', 'verify']);
  });
});

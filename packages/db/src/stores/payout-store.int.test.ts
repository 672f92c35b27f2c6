import { payable } from '@kervyxa/settlement';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ANSWER, callOf, openStores, type Stores, TERMS } from '../testing/open-stores.ts';
import { loadCase } from './load-case.ts';

const PASS = { verdict: 'PASS', reason: null, resultDigest: `sha256:${'0'.repeat(64)}` } as const;
const LEASE_MS = 60_000;
/** Of 1,000 at 250 basis points. */
const NET = 975n;

let stores: Stores;
beforeAll(async () => {
  stores = await openStores({ rail: 'webhook' });
});
afterAll(() => stores.close());

/** A contract that was settled, and what its solver is due. */
async function settle() {
  const { contractId } = await stores.openContract();
  const { runId, solverId } = await stores.submitCaptured(contractId);
  const attempt = (await stores.work.startRun(runId, 'wrk_1')) ?? 0;
  await stores.cases.execute(contractId, { kind: 'seal', runId, attempt, verdict: PASS });
  await stores.bench.elapse(TERMS.challengeWindowMs);
  await stores.cases.execute(contractId, { kind: 'advance' });
  return { contractId, solverId };
}

async function balanceOf(account: string): Promise<bigint> {
  const accounts = await stores.reads.trialBalance();
  return accounts.find((each) => each.account === account)?.balanceMinor ?? 0n;
}

/** A lease that has ended, or a delay that is over. */
async function passTime(id: string): Promise<void> {
  await stores.test.pool.query('UPDATE payouts SET next_try_at = now() WHERE id = $1', [id]);
}

// Keeps R-SETTLE-ONCE.
describe('a payout by a webhook', () => {
  it('is taken by one of many at once, and by another when the lease has ended', async () => {
    const { contractId, solverId } = await settle();
    const takes = await Promise.all(
      Array.from({ length: 10 }, () => stores.payouts.takeDue(10, LEASE_MS)),
    );
    const [payout, ...others] = takes.flat();
    expect(others).toEqual([]);
    expect(payout).toMatchObject({ contractId, solverId, amountMinor: NET, tries: 0 });
    expect(await stores.payouts.takeDue(10, LEASE_MS)).toEqual([]);
    await passTime(payout?.id ?? '');
    expect(await stores.payouts.takeDue(10, LEASE_MS)).toEqual([payout]);
    await stores.payouts.confirm(payout?.id ?? '');
  });

  it('BUG-59 S05 that was sent twice, since the first answer was lost, is booked once', async () => {
    await settle();
    const [payout] = await stores.payouts.takeDue(1, LEASE_MS);
    const id = payout?.id ?? '';
    expect(await balanceOf(payable(id))).toBe(NET);
    await Promise.all(Array.from({ length: 5 }, () => stores.payouts.confirm(id)));
    expect(await balanceOf(payable(id))).toBe(0n);
    expect(await stores.payouts.takeDue(10, LEASE_MS)).toEqual([]);
    const { rowCount } = await stores.test.pool.query(
      `SELECT 1 FROM ledger_transfers WHERE idempotency_key = $1`,
      [`payout/${id}/confirmed`],
    );
    expect(rowCount).toBe(1);
    expect((await stores.reads.checkLedger()).problem).toBeNull();
  });

  it('S05 is confirmed while somebody holds its contract: nobody else’s money waits for them', async () => {
    const { contractId } = await settle();
    const [payout] = await stores.payouts.takeDue(1, LEASE_MS);
    const id = payout?.id ?? '';
    await stores.parts.connections.transact(async ({ sql }) => {
      await loadCase(sql, contractId, { kind: 'advance' });
      await stores.payouts.confirm(id);
    });
    expect(await balanceOf(payable(id))).toBe(0n);
  });

  it('that fails is tried again later, then held, and then again for the operator', async () => {
    await settle();
    const [payout] = await stores.payouts.takeDue(1, LEASE_MS);
    const id = payout?.id ?? '';
    await stores.payouts.fail(id, 'HTTP 500', 3_600_000);
    expect(await stores.payouts.takeDue(10, LEASE_MS)).toEqual([]);
    await passTime(id);
    expect(await stores.payouts.takeDue(10, LEASE_MS)).toMatchObject([{ id, tries: 1 }]);
    await stores.payouts.fail(id, 'HTTP 500', null);
    await passTime(id);
    expect(await stores.payouts.takeDue(10, LEASE_MS)).toEqual([]);
    const operatorId = await stores.bench.addPrincipal();
    const retry = (key: string) =>
      stores.commands.retryPayout(callOf(operatorId, key), id, () => ANSWER);
    expect(await retry('once')).toEqual(ANSWER);
    expect(await retry('once')).toEqual(ANSWER);
    await expect(retry('again')).rejects.toMatchObject({ code: 'DB_PAYOUT_NOT_HELD' });
    expect(await stores.payouts.takeDue(10, LEASE_MS)).toMatchObject([{ id, tries: 2 }]);
    await stores.payouts.confirm(id);
    await stores.payouts.fail(id, 'too late', null);
    const { rows } = await stores.test.pool.query('SELECT state FROM payouts WHERE id = $1', [id]);
    expect(rows).toEqual([{ state: 'CONFIRMED' }]);
  });
});

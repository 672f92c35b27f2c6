import { systemClock } from '@kervyxa/core';
import { outsidePayouts, payable } from '@kervyxa/settlement';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LONG_MS, openDueContracts, type DueContracts } from '../testing/due-contracts.ts';
import {
  RAIL_SECRET,
  startFakeRailServer,
  type Behaviour,
  type FakeRailServer,
} from '../testing/fake-rail-server.ts';
import { recordingLog } from '../testing/recording-log.ts';
import { sendDuePayouts } from './send-due.ts';
import { createWebhookRail } from './webhook-rail.ts';

const TRIES = 12;
/** 1,000 less 2.5 %. */
const NET = 975n;

const { signal } = new AbortController();
let due: DueContracts;
let service: FakeRailServer;
let contractId: string;
let log: ReturnType<typeof recordingLog>;
beforeEach(async () => {
  due = await openDueContracts({ rail: 'webhook' });
  log = recordingLog();
  ({ contractId } = await due.openPassed());
  await due.stores.bench.elapse(LONG_MS);
  await due.stores.cases.execute(contractId, { kind: 'advance' });
});
afterEach(async () => {
  await service.close();
  await due.close();
});

async function serve(...behaviours: [Behaviour, ...Behaviour[]]): Promise<void> {
  service = await startFakeRailServer(behaviours);
}

function send(payouts = due.stores.payouts): Promise<void> {
  const options = { url: service.url, secret: RAIL_SECRET, clock: systemClock, timeoutMs: 300 };
  return sendDuePayouts(payouts, createWebhookRail(options), { log, signal });
}

async function balanceOf(account: string): Promise<bigint> {
  const balances = await due.stores.bench.trialBalance();
  return balances.find((each) => each.account === account)?.balanceMinor ?? 0n;
}

async function expectPaidOnce(): Promise<void> {
  expect([...service.paid.values()]).toEqual([NET]);
  expect(await due.transfersOf(contractId)).toEqual([
    'escrow_funded',
    'payout',
    'payout_confirmed',
  ]);
  expect(await balanceOf(outsidePayouts('USD'))).toBe(NET);
  const [id = ''] = service.paid.keys();
  expect(await balanceOf(payable(id))).toBe(0n);
  await due.hurryPayouts();
  const before = service.requests.length;
  await send();
  expect(service.requests).toHaveLength(before);
}

// Keeps R-RAIL-ONCE.
describe('a payout by the webhook rail', () => {
  it('is confirmed in the ledger once the service has accepted it', async () => {
    await serve('accepts');
    await send();
    expect(log.lines).toEqual(['info: payout accepted by the rail']);
    await expectPaidOnce();
  });

  it.each(['accepts_silently', 'accepts_and_dies'] as const)(
    'BUG-59 the service %s: it is asked again, and paid once',
    async (behaviour) => {
      await serve(behaviour, 'accepts');
      await send();
      expect(await balanceOf(outsidePayouts('USD'))).toBe(0n);
      await due.hurryPayouts();
      await send();
      await expectPaidOnce();
    },
  );

  it('BUG-59 we die between the answer and its record: asked again after the lease, paid once', async () => {
    await serve('accepts');
    const { payouts } = due.stores;
    const dying = { ...payouts, confirm: () => Promise.reject(new Error('killed')) };
    await expect(send(dying)).rejects.toThrow('killed');
    await send();
    expect(service.requests).toHaveLength(1);
    await due.hurryPayouts();
    await send();
    expect(service.requests).toHaveLength(2);
    await expectPaidOnce();
  });

  it('S03 two schedulers send at the same time: one of them does', async () => {
    await serve('accepts');
    await Promise.all([send(), send(), send()]);
    expect(service.requests).toHaveLength(1);
    await expectPaidOnce();
  });

  it('BUG-72 is refused by the rail for its payee: HELD after twelve tries, owed to the solver and nobody’s else, and paid when the operator says so', async () => {
    await serve(...(Array(TRIES).fill('answers_500') as [Behaviour]), 'accepts');
    for (let tries = 0; tries < TRIES + 3; tries += 1) {
      await send();
      await due.hurryPayouts();
    }
    expect(service.requests).toHaveLength(TRIES);
    expect(log.lines.at(-1)).toBe('error: payout HELD: an operator has to look');
    const [id = ''] = service.requests.map((request) => request.id);
    expect(await balanceOf(payable(id))).toBe(NET);
    expect(await due.stateOf(contractId)).toBe('SETTLED');
    expect(await due.transfersOf(contractId)).toEqual(['escrow_funded', 'payout']);
    // There is no way back to the requester: not by time, and not by asking.
    await due.stores.bench.elapse(LONG_MS);
    await due.stores.cases.execute(contractId, { kind: 'advance' });
    const cancelled = await due.stores.cases.execute(contractId, { kind: 'cancel' });
    expect(cancelled.kind).toBe('refused');
    expect(await balanceOf(payable(id))).toBe(NET);
    const call = { actorId: await due.stores.bench.addPrincipal(), idempotency: null };
    await due.stores.commands.retryPayout(call, id, () => ({ status: 202, body: '{}' }));
    await send();
    await expectPaidOnce();
  });
});

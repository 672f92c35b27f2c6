import { systemClock } from '@kervyxa/core';
import { afterEach, describe, expect, it } from 'vitest';
import {
  RAIL_SECRET,
  startFakeRailServer,
  type Behaviour,
  type FakeRailServer,
} from '../testing/fake-rail-server.ts';
import type { DuePayout } from './rail.ts';
import { createWebhookRail } from './webhook-rail.ts';

const PAYOUT: DuePayout = {
  id: 'pay_1',
  solverId: 'prn_solver',
  contractId: 'con_1',
  amountMinor: 9_007_199_254_740_993n,
  currency: 'USD',
  tries: 0,
  createdAt: new Date('2026-01-02T03:04:05.678Z'),
};

let server: FakeRailServer | null = null;
afterEach(async () => {
  await server?.close();
  server = null;
});

async function railTo(behaviours: [Behaviour, ...Behaviour[]], timeoutMs?: number) {
  const started = await startFakeRailServer(behaviours);
  server = started;
  const options = { url: started.url, secret: RAIL_SECRET, clock: systemClock };
  const rail = createWebhookRail({ ...options, ...(timeoutMs !== undefined && { timeoutMs }) });
  return { rail, server: started };
}

// Keeps R-RAIL-ONCE.
describe('the webhook rail', () => {
  it('sends a signed message whose id is the payout’s, with the amount as a decimal string', async () => {
    const { rail, server: service } = await railTo(['accepts']);
    expect(await rail.send(PAYOUT)).toEqual({ kind: 'accepted' });
    expect(service.strays).toEqual([]);
    expect(service.requests.map(({ id }) => id)).toEqual(['pay_1']);
    expect(JSON.parse(service.requests[0]?.body ?? '')).toEqual({
      type: 'payout.due',
      timestamp: '2026-01-02T03:04:05.678Z',
      data: {
        payoutId: 'pay_1',
        contractId: 'con_1',
        solverId: 'prn_solver',
        amountMinor: '9007199254740993',
        currency: 'USD',
      },
    });
  });

  it.each(['accepts_silently', 'accepts_and_dies'] as const)(
    'BUG-59 the service %s: the next try has the same id and bytes, and nothing is paid twice',
    async (behaviour) => {
      const { rail, server: service } = await railTo([behaviour, 'accepts'], 300);
      expect(await rail.send(PAYOUT)).toMatchObject({ kind: 'failed' });
      expect(await rail.send({ ...PAYOUT, tries: 1 })).toEqual({ kind: 'accepted' });
      const [first, second] = service.requests;
      expect(second).toEqual(first);
      expect([...service.paid]).toEqual([['pay_1', PAYOUT.amountMinor]]);
    },
  );

  it('takes a status for an answer, however long the rest takes', async () => {
    const { rail } = await railTo(['accepts_slowly']);
    expect(await rail.send(PAYOUT)).toEqual({ kind: 'accepted' });
  });

  it('follows no redirect: the signature goes nowhere else', async () => {
    const { rail, server: service } = await railTo(['redirects']);
    expect(await rail.send(PAYOUT)).toEqual({
      kind: 'failed',
      problem: 'answered with status 307, a redirect, which is not followed',
    });
    expect(service.strays).toEqual([]);
    expect(service.requests).toHaveLength(1);
  });

  it('floods the caller: little is read, and less repeated', async () => {
    const { rail } = await railTo(['floods']);
    const outcome = await rail.send(PAYOUT);
    expect(outcome.kind === 'failed' && outcome.problem.length).toBeLessThan(400);
  });

  it('repeats what a failing service says without what a terminal would obey', async () => {
    const { rail } = await railTo(['answers_500']);
    const outcome = await rail.send(PAYOUT);
    expect(outcome).toMatchObject({ problem: expect.stringContaining('status 500: no funds') });
    expect(JSON.stringify(outcome)).not.toContain('\\u001b');
  });

  it('says so where nobody listens', async () => {
    const { rail, server: service } = await railTo(['accepts']);
    await service.close();
    expect(await rail.send(PAYOUT)).toMatchObject({
      problem: expect.stringContaining('ECONNREFUSED'),
    });
  });
});

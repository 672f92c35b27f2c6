import { randomBytes } from 'node:crypto';
import { systemClock } from '@kervyxa/core';
import { openStores, type Stores } from '@kervyxa/db/testing';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApi } from '../app.ts';
import { createApiKey, hashOfKey } from '../auth/api-key.ts';
import { checkAnswer, type Answered } from '../testing/documented.ts';

const DAY_MS = 86_400_000;
const PASS = { verdict: 'PASS', reason: null, resultDigest: `sha256:${'0'.repeat(64)}` } as const;

let stores: Stores;
let app: FastifyInstance;
const key = createApiKey(randomBytes);
beforeAll(async () => {
  stores = await openStores({ rail: 'webhook' });
  const { newId } = stores;
  app = await createApi({ database: stores, newId, clock: systemClock, randomBytes });
  await stores.upkeep.addOperatorKey(hashOfKey(key), { onlyFirst: true });
});
afterAll(async () => {
  await app.close();
  await stores.close();
});

/** A contract that was settled, whose payout a rail has taken. */
async function settle(): Promise<Record<string, string>> {
  const { contractId } = await stores.openContract();
  const { runId, solverId, submissionId } = await stores.submitCaptured(contractId);
  await stores.cases.execute(contractId, { kind: 'start', runId });
  await stores.cases.execute(contractId, { kind: 'seal', runId, attempt: 1, verdict: PASS });
  await stores.bench.elapse(DAY_MS);
  await stores.cases.execute(contractId, { kind: 'advance' });
  const [payout] = await stores.payouts.takeDue(1, DAY_MS);
  return { id: payout?.id ?? '', contractId, solverId, submissionId };
}

async function list(query: string): Promise<Answered> {
  const url = `/v1/payouts${query}`;
  const headers = { authorization: `Bearer ${key}` };
  return checkAnswer(app, await app.inject({ method: 'GET', url, headers }), {
    method: 'GET',
    url,
  });
}

describe('the operator looks at payouts', () => {
  it('finds all newest first, page by page, and those of one state', async () => {
    expect((await list('')).fields).toEqual({ items: [], next: null });
    const [due, held, confirmed] = [await settle(), await settle(), await settle()];
    await stores.payouts.fail(held.id ?? '', 'HTTP 500', null);
    await stores.payouts.confirm(confirmed.id ?? '');
    const time = expect.any(String);
    // 1,000 less 2.5 %.
    const fresh = {
      amountMinor: '975',
      currency: 'USD',
      tries: 0,
      lastProblem: null,
      createdAt: time,
      confirmedAt: null,
    };
    const all = [
      { ...fresh, ...confirmed, state: 'CONFIRMED', confirmedAt: time },
      { ...fresh, ...held, state: 'HELD', tries: 1, lastProblem: 'HTTP 500' },
      { ...fresh, ...due, state: 'DUE' },
    ];
    expect((await list('')).fields).toEqual({ items: all, next: null });
    for (const item of all) {
      const { fields } = await list(`?state=${item.state}`);
      expect(fields).toEqual({ items: [item], next: null });
    }
    const first = await list('?limit=2');
    const rest = await list(`?limit=2&after=${first.fields.next}`);
    expect([...first.items, ...rest.items]).toEqual(all);
    expect(rest.fields.next).toBeNull();
  });

  it.each([
    ['?state=PAID', 'API_REQUEST_INVALID'],
    ['?state=due', 'API_REQUEST_INVALID'],
    ['?state=', 'API_REQUEST_INVALID'],
    ['?after=x', 'DB_CURSOR_INVALID'],
  ])('refuses %s', async (query, code) => {
    expect((await list(query)).code).toBe(code);
  });
});

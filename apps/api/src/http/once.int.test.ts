import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sampleContract } from '../testing/sample-contract.ts';
import { createWorld, type Cast, type World } from '../testing/world.ts';

let world: World;

beforeAll(async () => {
  world = await createWorld();
});

afterAll(async () => world.close());

function post(name: keyof Cast, url: string, body: unknown, key: string) {
  return world.ask(world.people[name], 'POST', url, body, { 'idempotency-key': key });
}

const deposit = (amountMinor: string, reference: string) => ({
  principalId: world.people.requester.id,
  amountMinor,
  currency: 'USD',
  reference,
});

// Keeps R-API-ONCE.
describe('sends the same request twice', () => {
  it('S06 gets the same bytes, and is told that they are an earlier answer', async () => {
    const first = await post('operator', '/v1/deposits', deposit('5', 'one'), 'k1');
    const again = await post('operator', '/v1/deposits', deposit('5', 'one'), 'k1');
    expect(again).toMatchObject({ status: 201, text: first.text });
    expect(first.headers['idempotency-replayed']).toBeUndefined();
    expect(again.headers['idempotency-replayed']).toBe('true');
    const mine = await world.ask(world.people.requester, 'GET', '/v1/accounts/me');
    expect(mine.fields.balances).toEqual([{ currency: 'USD', balanceMinor: '5' }]);
  });

  it('writes the same input in another order: it is the same', async () => {
    const body = deposit('6', 'two');
    const first = await post('operator', '/v1/deposits', body, 'k2');
    const turned = Object.fromEntries(Object.entries(body).toReversed());
    expect((await post('operator', '/v1/deposits', turned, 'k2')).text).toBe(first.text);
  });

  it('S06 uses the key for something else: 409, be it another body, path or method', async () => {
    await post('operator', '/v1/deposits', deposit('7', 'three'), 'k3');
    const others = [
      await post('operator', '/v1/deposits', deposit('8', 'three'), 'k3'),
      await post('operator', '/v1/principals', { name: 'x', roles: ['solver'] }, 'k3'),
    ];
    expect(others.map(({ status, code }) => [status, code])).toEqual([
      [409, 'DB_IDEMPOTENCY_CONFLICT'],
      [409, 'DB_IDEMPOTENCY_CONFLICT'],
    ]);
  });

  it('uses somebody else’s key: it is another one', async () => {
    const contract = sampleContract({ title: 'Of two requesters' });
    const mine = await post('requester', '/v1/contracts', contract, 'shared');
    const theirs = await post('otherRequester', '/v1/contracts', contract, 'shared');
    expect([mine.status, theirs.status]).toEqual([201, 201]);
    expect(mine.id).not.toBe(theirs.id);
  });

  it('BUG-61 posts a contract twice, with the key and without: one contract', async () => {
    const contract = sampleContract({ title: 'Once' });
    const first = await post('requester', '/v1/contracts', contract, 'k4');
    expect((await post('requester', '/v1/contracts', contract, 'k4')).text).toBe(first.text);
    const plain = await world.ask(world.people.requester, 'POST', '/v1/contracts', contract);
    expect(plain).toMatchObject({ status: 409, code: 'DB_CONTRACT_DUPLICATE' });
  });

  it('S06 submits many times at once: one submission, one answer', async () => {
    const id = await world.openContract();
    const body = { repositoryUrl: 'https://git.example.org/a.git', commit: '2'.repeat(40) };
    const url = `/v1/contracts/${id}/submissions`;
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => post('solver', url, body, 'k5')),
    );
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    const replayed = answers.filter(({ headers }) => headers['idempotency-replayed'] === 'true');
    expect(replayed.length).toBe(9);
    const { items } = await world.ask(world.people.solver, 'GET', url);
    expect(items.length).toBe(1);
  });

  it('repeats what made an API key: the key is not told again, and is kept nowhere', async () => {
    const body = { name: 'once', roles: ['solver'] };
    const first = await post('operator', '/v1/principals', body, 'k6');
    const again = await post('operator', '/v1/principals', body, 'k6');
    expect(again.fields).toEqual({ ...first.fields, apiKey: null });
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(first.fields.apiKey).toMatch(/^kvx_[\w-]{43}$/);
  });

  it('is refused first: the key is free for the time when it is possible', async () => {
    const id = await world.openContract();
    const { submissionId } = await world.decide(id, 'PASS');
    const url = `/v1/submissions/${submissionId}/challenges`;
    const body = { kind: 'OVERTURN_PASS', evidence: 'Look.' };
    const poor = await post('challenger', url, body, 'k7');
    expect(poor.code).toBe('SETTLEMENT_FUNDS_INSUFFICIENT');
    const { id: principalId } = world.people.challenger;
    const money = { ...deposit('5000', 'bond'), principalId };
    expect((await post('operator', '/v1/deposits', money, 'k8')).status).toBe(201);
    expect((await post('challenger', url, body, 'k7')).status).toBe(201);
  });

  it.each(['', ' ', 'a b', 'ä', 'x'.repeat(256)])('has the key %j: refused', async (key) => {
    const answer = await post('operator', '/v1/deposits', deposit('9', 'bad'), key);
    expect(answer).toMatchObject({ status: 422, code: 'API_REQUEST_INVALID' });
  });
});

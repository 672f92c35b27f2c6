import { afterAll, beforeAll, expect, it } from 'vitest';
import { describedRoutes } from '../../apps/api/src/testing/described-routes.ts';
import { createWorld, type Person, type World } from '../../apps/api/src/testing/world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

/** With a purse of its own, which no other test looks into. */
async function newPerson(name: string, role: 'challenger' | 'solver'): Promise<Person> {
  const body = { name, roles: [role] };
  const made = await world.ask(world.people.operator, 'POST', '/v1/principals', body);
  return { id: made.id, key: String(made.fields.apiKey) };
}

async function stateOf(submissionId: string): Promise<unknown[]> {
  const { operator } = world.people;
  const { fields } = await world.ask(operator, 'GET', `/v1/submissions/${submissionId}`);
  return [fields.state, fields.verdict, fields.reason];
}

it('S09 has 999 where the bond is 5000, and amounts that no number of JavaScript holds: sums and comparisons are exact', async () => {
  const { submissionId } = await world.decide(await world.openContract(), 'PASS');
  const poor = await newPerson('poor', 'challenger');
  const url = `/v1/submissions/${submissionId}/challenges`;
  const body = { kind: 'OVERTURN_PASS', evidence: 'Look.' };
  const balance = async () => {
    const { fields } = await world.ask(poor, 'GET', '/v1/accounts/me');
    return (fields.balances as { balanceMinor: unknown }[])[0]?.balanceMinor;
  };
  await world.pay(poor, 9n);
  await world.pay(poor, 990n);
  expect(await balance()).toBe('999');
  const refused = await world.ask(poor, 'POST', url, body);
  expect(refused.code).toBe('SETTLEMENT_FUNDS_INSUFFICIENT');
  await world.pay(poor, 4_001n);
  expect((await world.ask(poor, 'POST', url, body)).status).toBe(201);
  expect(await balance()).toBe('0');
  await world.pay(poor, 9_007_199_254_740_992n);
  await world.pay(poor, 1n);
  expect(await balance()).toBe('9007199254740993');
});

it('S25 files logs and a result that show a failure: PASSED stands, only what a worker saw decides', async () => {
  const { submissionId, commit } = await world.decide(await world.openContract(), 'PASS');
  const sure = await newPerson('sure of it', 'challenger');
  await world.pay(sure, 5_000n);
  const evidence = JSON.stringify({
    verdict: 'FAIL',
    criteria: [{ id: 'tests-pass', status: 'fail', reason: 'EXIT_CODE_MISMATCH', exitCode: 1 }],
  });
  const url = `/v1/submissions/${submissionId}/challenges`;
  const filed = await world.ask(sure, 'POST', url, { kind: 'RERUN_VERIFICATION', evidence });
  expect(filed.status).toBe(201);
  expect(await stateOf(submissionId)).toEqual(['PASSED', 'PASS', null]);
  // No call takes a result, a log or a verdict from anybody.
  const writing = describedRoutes(world.app).filter(({ method }) => method !== 'GET');
  expect(writing.filter(({ path }) => /runs|logs|result|verdict/.test(path))).toEqual([]);
  const [runId = ''] = filed.fields.runIds as string[];
  await world.seal({ submissionId, runId, commit }, 'PASS');
  expect(await stateOf(submissionId)).toEqual(['PASSED', 'PASS', null]);
  const { fields } = await world.ask(sure, 'GET', `/v1/challenges/${filed.id}`);
  expect(fields.state).toBe('UPHELD');
});

it('S26 wants reruns until one fails: a failure moves no money, and after a pass it is for the arbiter', async () => {
  const { submissionId, commit } = await world.decide(await world.openContract(), 'PASS');
  const url = `/v1/submissions/${submissionId}/challenges`;
  const body = { kind: 'RERUN_VERIFICATION', evidence: 'Again.' };
  const rerun = async (verdict: 'PASS' | 'FAIL') => {
    const stubborn = await newPerson(`wants ${verdict}`, 'challenger');
    await world.pay(stubborn, 5_000n);
    const filed = await world.ask(stubborn, 'POST', url, body);
    const [runId = ''] = filed.fields.runIds as string[];
    await world.seal({ submissionId, runId, commit }, verdict);
    return (await world.ask(stubborn, 'GET', `/v1/challenges/${filed.id}`)).fields.state;
  };
  expect(await rerun('PASS')).toBe('UPHELD');
  expect(await rerun('FAIL')).toBe('AWAITING_ARBITER');
  expect(await stateOf(submissionId)).toEqual(['PASSED', 'PASS', null]);
});

it('S19 hands in a rival’s commit as the own, received later: the rival’s is the first to pass, whatever is decided first', async () => {
  const contractId = await world.openContract();
  const copycat = await newPerson('copycat', 'solver');
  const original = await world.begin(contractId);
  const url = `/v1/contracts/${contractId}/submissions`;
  const seen = await world.ask(copycat, 'GET', url);
  expect(seen.text).not.toContain(original.commit);
  const copied = await world.begin(contractId, copycat);
  await world.seal(copied, 'PASS');
  expect(await stateOf(copied.submissionId)).toEqual(['VERIFIED', 'PASS', null]);
  await world.seal(original, 'PASS');
  expect(await stateOf(original.submissionId)).toEqual(['PASSED', 'PASS', null]);
  expect(await stateOf(copied.submissionId)).toEqual(['DEFERRED', 'PASS', null]);
});

import type { SealedVerdict } from '@kervyxa/core';
import { openStores, type Stores } from '@kervyxa/db/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MINUTE_MS = 60_000;
const REWARD = 1_000n;
/** 1,000 less 2.5 %. */
const NET = 975n;
const resultDigest = `sha256:${'0'.repeat(64)}`;
const PASS: SealedVerdict = { verdict: 'PASS', reason: null, resultDigest };
const FAIL: SealedVerdict = { verdict: 'FAIL', reason: 'EXIT_CODE_MISMATCH', resultDigest };

let stores: Stores;
beforeAll(async () => {
  stores = await openStores();
});
afterAll(async () => {
  const problem = await stores.bench.checkLedger();
  await stores.close();
  if (problem !== null) throw new Error(`expected a ledger that adds up, got ${problem}`);
});

const advance = (contractId: string) => stores.cases.execute(contractId, { kind: 'advance' });

async function stateOf(contractId: string): Promise<string> {
  return (await stores.bench.readCase(contractId)).contract.state;
}

async function submissionOf(contractId: string, id: string): Promise<string | undefined> {
  const { submissions } = await stores.bench.readCase(contractId);
  return submissions.find((each) => each.id === id)?.state;
}

async function seal(contractId: string, runId: string, verdict: SealedVerdict): Promise<void> {
  await stores.cases.execute(contractId, { kind: 'start', runId });
  await stores.cases.execute(contractId, { kind: 'seal', runId, attempt: 1, verdict });
}

async function balanceOf(principalId: string): Promise<bigint> {
  const balances = await stores.bench.trialBalance();
  return balances
    .filter(({ account }) => account.includes(principalId))
    .reduce((sum, { balanceMinor }) => sum + balanceMinor, 0n);
}

it('BUG-64 reaches its closing time without a pass: EXPIRED, and the reward is the requester’s again', async () => {
  const { contractId, requesterId } = await stores.openContract();
  const { runId } = await stores.submitCaptured(contractId);
  await seal(contractId, runId, FAIL);
  await stores.bench.elapse(DAY_MS - MINUTE_MS);
  await advance(contractId);
  expect(await stateOf(contractId)).toBe('OPEN');
  await stores.bench.elapse(MINUTE_MS);
  await advance(contractId);
  expect(await stateOf(contractId)).toBe('EXPIRED');
  expect(await balanceOf(requesterId)).toBe(REWARD);
});

it('BUG-64 reaches its closing time while a run and then a window are under way: waits for both, and the winner is paid', async () => {
  const { contractId, requesterId } = await stores.openContract();
  const { runId, solverId } = await stores.submitCaptured(contractId);
  await stores.bench.elapse(2 * DAY_MS);
  await advance(contractId);
  expect(await stateOf(contractId)).toBe('OPEN');
  await seal(contractId, runId, PASS);
  await advance(contractId);
  expect(await stateOf(contractId)).toBe('IN_CHALLENGE');
  await stores.bench.elapse(2 * HOUR_MS);
  await advance(contractId);
  expect(await stateOf(contractId)).toBe('SETTLED');
  expect([await balanceOf(solverId), await balanceOf(requesterId)]).toEqual([NET, 0n]);
});

it('BUG-65 S01 challenges a minute before and when the window is over: taken, then SETTLEMENT_WINDOW_CLOSED, and never both paid and challenged', async () => {
  for (const [lateBy, code, state] of [
    [-MINUTE_MS, null, 'IN_CHALLENGE'],
    [0, 'SETTLEMENT_WINDOW_CLOSED', 'SETTLED'],
  ] as const) {
    const { contractId } = await stores.openContract();
    const { runId, submissionId } = await stores.submitCaptured(contractId);
    await seal(contractId, runId, PASS);
    await stores.bench.elapse(2 * HOUR_MS + lateBy);
    expect(await challenge(contractId, submissionId)).toBe(code);
    await advance(contractId);
    expect(await stateOf(contractId)).toBe(state);
  }
});

it('BUG-67 challenges in the last minute: the response still has its hour, and the settlement waits for it', async () => {
  const { contractId } = await stores.openContract();
  const { runId, submissionId, solverId } = await stores.submitCaptured(contractId);
  await seal(contractId, runId, PASS);
  await stores.bench.elapse(2 * HOUR_MS - MINUTE_MS);
  expect(await challenge(contractId, submissionId)).toBeNull();
  await stores.bench.elapse(59 * MINUTE_MS);
  await advance(contractId);
  expect(await stateOf(contractId)).toBe('IN_CHALLENGE');
  const answer = await stores.cases.execute(contractId, {
    kind: 'challenge',
    challengeId: stores.newId('challenge'),
    submissionId,
    challengerId: solverId,
    challenge: 'UPHOLD_PASS',
  });
  expect(answer.kind).toBe('accepted');
});

it('BUG-71 S21 claims a place with a commit that nobody can fetch: none is kept, the next one passes', async () => {
  const { contractId } = await stores.openContract();
  const empty = stores.newId('submission');
  await stores.bench.submit(contractId, empty, await stores.bench.addPrincipal());
  await stores.cases.execute(contractId, { kind: 'try_capture', submissionId: empty });
  const { runId, submissionId } = await stores.submitCaptured(contractId);
  await seal(contractId, runId, PASS);
  expect(await submissionOf(contractId, submissionId)).toBe('VERIFIED');
  await stores.bench.elapse(10 * MINUTE_MS);
  await advance(contractId);
  expect(await submissionOf(contractId, empty)).toBe('INCONCLUSIVE');
  expect(await submissionOf(contractId, submissionId)).toBe('PASSED');
});

/** By somebody new who has the bond: null, or the code of the refusal. */
async function challenge(contractId: string, submissionId: string): Promise<string | null> {
  const challengerId = await stores.bench.addPrincipal();
  await stores.bench.deposit(challengerId, 100n);
  const decision = await stores.cases.execute(contractId, {
    kind: 'challenge',
    challengeId: stores.newId('challenge'),
    submissionId,
    challengerId,
    challenge: 'OVERTURN_PASS',
  });
  return decision.kind === 'refused' ? decision.error.code : null;
}

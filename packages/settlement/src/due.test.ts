import { beforeEach, describe, expect, it } from 'vitest';
import { nextDueAt } from './due.ts';
import { type FakeBench, openFakeBench } from './testing/fake-bench.ts';
import {
  beginStory,
  DAY_MS,
  FAIL,
  PASS,
  POLICY,
  type Story,
  TERMS,
  UNREACHABLE,
} from './testing/story.ts';

const FEE = 25n;

let bench: FakeBench;
let story: Story;
beforeEach(async () => {
  bench = await openFakeBench(POLICY);
  story = await beginStory(bench);
});
const stateNow = async (): Promise<string> => (await story.read()).contract.state;

// Keeps R-SETTLE-ONCE, R-SETTLE-WINDOW.
describe('settlement', () => {
  it('BUG-65 pays when the window closes, not one millisecond before', async () => {
    const winner = await story.submit();
    await story.seal(winner, PASS);
    await story.advance(TERMS.challengeWindowMs - 1);
    expect(await stateNow()).toBe('IN_CHALLENGE');
    await story.advance(1);
    expect(await stateNow()).toBe('SETTLED');
    const { solverId } = await story.submission(winner);
    expect(await story.balance(`principal/${solverId}/USD`)).toBe(TERMS.rewardMinor - FEE);
    expect(await story.balance('treasury/USD')).toBe(FEE);
  });

  it('is waited for by nobody who was before the winner, and everybody else goes without', async () => {
    const failed = await story.submit();
    await story.seal(failed, FAIL);
    const winner = await story.submit();
    await story.submit();
    await story.breakDown(await story.submit());
    await story.seal(winner, PASS);
    await story.advance(TERMS.challengeWindowMs - 1);
    await story.receive();
    await story.advance(1);
    const states = (await story.read()).submissions.map(({ state }) => state);
    expect(states).toEqual(['FAILED', 'PAID', 'SUPERSEDED', 'SUPERSEDED', 'SUPERSEDED']);
  });

  it('waits for a held submission that was received before, as long as the operator has', async () => {
    const [held, winner] = [await story.submit(), await story.submit()];
    await story.elapse(DAY_MS);
    await story.breakDown(held);
    await story.seal(winner, PASS);
    await story.advance(TERMS.challengeWindowMs);
    expect(await stateNow()).toBe('IN_CHALLENGE');
    await story.advance(POLICY.heldGraceMs - TERMS.challengeWindowMs);
    expect(await stateNow()).toBe('SETTLED');
    expect((await story.submission(held)).state).toBe('INCONCLUSIVE');
  });

  it('is blocked by an open challenge', async () => {
    const winner = await story.submit();
    await story.seal(winner, PASS);
    await story.challenge(winner, 'OVERTURN_PASS');
    await story.advance(TERMS.challengeWindowMs);
    expect(await stateNow()).toBe('IN_CHALLENGE');
  });

  it('owes the net to an outside rail, once, where payouts leave by one', async () => {
    bench = await openFakeBench({ ...POLICY, rail: 'webhook' });
    story = await beginStory(bench);
    const winner = await story.submit();
    await story.seal(winner, PASS);
    await story.advance(TERMS.challengeWindowMs);
    await story.do({ kind: 'advance' });
    const { solverId } = await story.submission(winner);
    const due = bench.store.effects.filter((effect) => effect.kind === 'payout_due');
    const amountMinor = TERMS.rewardMinor - FEE;
    expect(due).toMatchObject([{ submissionId: winner, solverId, amountMinor, currency: 'USD' }]);
    expect(await story.balance(`payable/${due[0]?.payoutId}`)).toBe(amountMinor);
    expect(await story.balance(`principal/${solverId}/USD`)).toBe(0n);
  });
});

describe('expiry', () => {
  it('BUG-64 gives the reward back at the closing time where nobody is undecided', async () => {
    await story.seal(await story.submit(), FAIL);
    const gone = await story.receive();
    await story.do({ kind: 'refuse_capture', submissionId: gone, verdict: UNREACHABLE });
    await story.advance(TERMS.closesInMs - 1);
    expect(await stateNow()).toBe('OPEN');
    await story.advance(1);
    expect(await stateNow()).toBe('EXPIRED');
    expect(await story.balance(`principal/${story.requesterId}/USD`)).toBe(TERMS.rewardMinor);
  });

  it('BUG-64 waits for a verification that is under way and for an open window', async () => {
    await story.elapse(TERMS.closesInMs - 1);
    const late = await story.submit();
    const { id: runId } = await story.run(late);
    await story.do({ kind: 'start', runId });
    await story.advance(DAY_MS);
    expect(await stateNow()).toBe('OPEN');
    await story.do({ kind: 'seal', runId, attempt: 1, verdict: PASS });
    await story.advance(TERMS.challengeWindowMs - 1);
    expect(await stateNow()).toBe('IN_CHALLENGE');
    await story.advance(1);
    expect(await stateNow()).toBe('SETTLED');
  });

  it.each(['DRAFT', 'PROVED'])(
    'ends a contract that stayed %s, and moves no money',
    async (state) => {
      story = await beginStory(bench, {}, { open: false });
      if (state === 'PROVED') await story.do({ kind: 'prove' });
      await story.advance(TERMS.closesInMs);
      expect(await stateNow()).toBe('EXPIRED');
      expect(bench.store.ledger.transfers.map(({ kind }) => kind)).toEqual([
        'deposit',
        'escrow_funded',
      ]);
    },
  );
});

describe('what is due next', () => {
  const dueInMs = async (): Promise<number | null> => {
    const at = nextDueAt(await story.read());
    return at === null ? null : at.getTime() - (await bench.now()).getTime();
  };

  it('is the first of all that time brings', async () => {
    expect(await dueInMs()).toBe(TERMS.closesInMs);
    const winner = await story.receive();
    expect(await dueInMs()).toBe(POLICY.captureGraceMs);
    await story.do({ kind: 'capture', submissionId: winner });
    expect(await dueInMs()).toBeNull();
    await story.seal(winner, PASS);
    expect(await dueInMs()).toBe(TERMS.challengeWindowMs);
    const challengeId = await story.challenge(winner, 'OVERTURN_PASS');
    expect(await dueInMs()).toBe(TERMS.responseWindowMs + POLICY.arbitrationMs);
    await story.do(await story.resolution(challengeId, 'RERUN_VERIFICATION'));
    expect(await dueInMs()).toBeNull();
  });

  it('brings all that waited, in one go: arbitration lapses and the winner is paid', async () => {
    const winner = await story.submit();
    await story.seal(winner, PASS);
    await story.challenge(winner, 'OVERTURN_PASS');
    await story.advance(100 * DAY_MS);
    expect(await stateNow()).toBe('SETTLED');
    expect(await dueInMs()).toBeNull();
  });
});

import { beforeEach, describe, expect, it } from 'vitest';
import type { ChallengeKind } from '../case.ts';
import { openFakeBench } from '../testing/fake-bench.ts';
import { beginStory, FAIL, PASS, POLICY, type Story, TERMS } from '../testing/story.ts';

let story: Story;
let winner: string;
let solverId: string;
beforeEach(async () => {
  story = await beginStory(await openFakeBench(POLICY));
  winner = await story.submit();
  await story.seal(winner, PASS);
  ({ solverId } = await story.submission(winner));
});

const resolve = async (id: string, decision: ChallengeKind): Promise<string | null> =>
  story.try(await story.resolution(id, decision));
const balanceOf = (principalId: string): Promise<bigint> =>
  story.balance(`principal/${principalId}/USD`);

// Keeps R-SETTLE-WINDOW, R-SETTLE-ONCE.
describe('an arbiter', () => {
  it('who upholds the pass gives half the bond, rounded down, to the solver and the rest to the treasury', async () => {
    const id = await story.challenge(winner, 'OVERTURN_PASS');
    await story.elapse(TERMS.responseWindowMs);
    expect(await resolve(id, 'UPHOLD_PASS')).toBeNull();
    expect((await story.challengeOf(id)).state).toBe('UPHELD');
    expect(await balanceOf(solverId)).toBe(50n);
    expect(await story.balance('treasury/USD')).toBe(51n);
    expect((await story.submission(winner)).state).toBe('PASSED');
  });

  it('who overturns it gives back the bonds of all whose challenge is open, and ends their reruns', async () => {
    const id = await story.challenge(winner, 'OVERTURN_PASS');
    const other = await story.challenge(winner, 'RERUN_VERIFICATION');
    await story.elapse(TERMS.responseWindowMs);
    expect(await resolve(id, 'OVERTURN_PASS')).toBeNull();
    for (const each of [id, other]) {
      const { state, challengerId } = await story.challengeOf(each);
      expect(state).toBe('OVERTURNED');
      expect(await balanceOf(challengerId)).toBe(TERMS.bondMinor);
    }
    expect((await story.run(winner, 'RERUN')).state).toBe('ABANDONED');
    expect((await story.submission(winner)).state).toBe('OVERTURNED');
    expect((await story.read()).contract.state).toBe('OPEN');
    expect(await balanceOf(solverId)).toBe(0n);
  });

  it('who is the requester, the solver or the challenger is refused', async () => {
    const challengeId = await story.challenge(winner, 'OVERTURN_PASS', 'prn_c');
    await story.elapse(TERMS.responseWindowMs);
    for (const arbiterId of [story.requesterId, solverId, 'prn_c']) {
      for (const decision of ['UPHOLD_PASS', 'OVERTURN_PASS', 'RERUN_VERIFICATION'] as const)
        expect(await story.try({ kind: 'resolve', challengeId, arbiterId, decision })).toBe(
          'SETTLEMENT_ARBITER_PARTIAL',
        );
    }
  });

  it('who overturns the pass to free it for the own submission behind it is refused', async () => {
    await story.submit('prn_next');
    const challengeId = await story.challenge(winner, 'OVERTURN_PASS');
    await story.elapse(TERMS.responseWindowMs);
    const command = { kind: 'resolve', challengeId, decision: 'OVERTURN_PASS' } as const;
    expect(await story.try({ ...command, arbiterId: 'prn_next' })).toBe(
      'SETTLEMENT_ARBITER_PARTIAL',
    );
  });

  it('who gets the own bond back by deciding another’s challenge, or has answered it, is refused', async () => {
    const challengeId = await story.challenge(winner, 'OVERTURN_PASS');
    await story.challenge(winner, 'OVERTURN_PASS', 'prn_other');
    await story.challenge(winner, 'UPHOLD_PASS', 'prn_friend');
    await story.elapse(TERMS.responseWindowMs);
    const command = { kind: 'resolve', challengeId, decision: 'OVERTURN_PASS' } as const;
    for (const arbiterId of ['prn_other', 'prn_friend'])
      expect(await story.try({ ...command, arbiterId })).toBe('SETTLEMENT_ARBITER_PARTIAL');
    expect(await resolve(challengeId, 'OVERTURN_PASS')).toBeNull();
  });

  it.each(['UPHOLD_PASS', 'OVERTURN_PASS'] as const)(
    'who decides %s waits for the solver’s answer or the end of the time for it',
    async (decision) => {
      const id = await story.challenge(winner, 'OVERTURN_PASS');
      await story.challenge(winner, 'UPHOLD_PASS', 'prn_bystander');
      await story.elapse(TERMS.responseWindowMs - 1);
      expect(await resolve(id, decision)).toBe('SETTLEMENT_RESPONSE_RUNNING');
      await story.elapse(1);
      expect(await resolve(id, decision)).toBeNull();
    },
  );

  it('who has the solver’s answer needs not wait', async () => {
    const id = await story.challenge(winner, 'OVERTURN_PASS');
    await story.challenge(winner, 'UPHOLD_PASS', solverId);
    expect(await resolve(id, 'OVERTURN_PASS')).toBeNull();
  });

  it('who has an answer to an earlier challenge has none to a later one', async () => {
    await story.challenge(winner, 'OVERTURN_PASS');
    await story.challenge(winner, 'UPHOLD_PASS', solverId);
    const later = await story.challenge(winner, 'OVERTURN_PASS');
    expect(await resolve(later, 'OVERTURN_PASS')).toBe('SETTLEMENT_RESPONSE_RUNNING');
  });

  it('has a bounded time, after which the verdict of the machine stands and the bond goes back', async () => {
    const id = await story.challenge(winner, 'OVERTURN_PASS');
    await story.advance(TERMS.responseWindowMs + POLICY.arbitrationMs - 1);
    expect((await story.read()).contract.state).toBe('IN_CHALLENGE');
    await story.elapse(1);
    expect(await resolve(id, 'OVERTURN_PASS')).toBe('SETTLEMENT_ARBITRATION_CLOSED');
    await story.do({ kind: 'advance' });
    const { state, challengerId } = await story.challengeOf(id);
    expect(state).toBe('LAPSED');
    expect(await balanceOf(challengerId)).toBe(TERMS.bondMinor);
    expect((await story.read()).contract.state).toBe('SETTLED');
  });

  it('may order one rerun for a challenge, at once, and decides by it', async () => {
    const id = await story.challenge(winner, 'OVERTURN_PASS');
    expect(await resolve(id, 'RERUN_VERIFICATION')).toBeNull();
    expect((await story.challengeOf(id)).state).toBe('RERUNNING');
    await story.seal(winner, FAIL, 'RERUN');
    await story.seal(winner, PASS, 'RERUN');
    expect((await story.challengeOf(id)).state).toBe('AWAITING_ARBITER');
    expect(await resolve(id, 'RERUN_VERIFICATION')).toBe('SETTLEMENT_RERUN_USED');
  });

  it('is not asked about a rerun that is under way, an answer, or what has ended', async () => {
    const rerun = await story.challenge(winner, 'RERUN_VERIFICATION');
    const answer = await story.challenge(winner, 'UPHOLD_PASS');
    const ended = await story.challenge(winner, 'OVERTURN_PASS');
    await story.elapse(TERMS.responseWindowMs);
    await story.do(await story.resolution(ended, 'UPHOLD_PASS'));
    for (const id of [rerun, answer, ended, 'chl_x'])
      expect(await resolve(id, 'UPHOLD_PASS')).toBe('SETTLEMENT_CHALLENGE_NOT_OPEN');
  });
});

import { beforeEach, describe, expect, it } from 'vitest';
import { CHALLENGE_KINDS, type ChallengeKind } from '../case.ts';
import type { Command } from '../command.ts';
import { openFakeBench } from '../testing/fake-bench.ts';
import { beginStory, PASS, POLICY, type Story, TERMS } from '../testing/story.ts';

let story: Story;
let winner: string;
beforeEach(async () => {
  story = await beginStory(await openFakeBench(POLICY));
  winner = await story.submit();
  await story.seal(winner, PASS);
});

async function filing(
  challenge: ChallengeKind,
  challengerId: string,
  purseMinor = TERMS.bondMinor,
): Promise<Command> {
  await story.bench.deposit(challengerId, purseMinor);
  const challengeId = story.bench.newId('challenge');
  return { kind: 'challenge', challengeId, submissionId: winner, challengerId, challenge };
}
const inMs = async (ms: number): Promise<Date> =>
  new Date((await story.bench.now()).getTime() + ms);

// Keeps R-SETTLE-WINDOW.
describe('a challenge', () => {
  it.each([
    ['OVERTURN_PASS', 'AWAITING_ARBITER', 0],
    ['RERUN_VERIFICATION', 'RERUNNING', 1],
  ] as const)('%s takes the bond and is %s', async (kind, state, runCount) => {
    const id = await story.challenge(winner, kind);
    expect(await story.challengeOf(id)).toMatchObject({
      state,
      bondMinor: TERMS.bondMinor,
      respondBy: await inMs(TERMS.responseWindowMs),
      decideBy: await inMs(TERMS.responseWindowMs + POLICY.arbitrationMs),
    });
    expect((await story.challengeOf(id)).runIds).toHaveLength(runCount);
    expect(await story.balance(`bond/${id}`)).toBe(TERMS.bondMinor);
  });

  it('BUG-65 counts one millisecond before the window closes, and not when it closes', async () => {
    await story.elapse(TERMS.challengeWindowMs - 1);
    expect(await story.try(await filing('OVERTURN_PASS', 'prn_a'))).toBeNull();
    await story.elapse(1);
    expect(await story.try(await filing('OVERTURN_PASS', 'prn_b'))).toBe(
      'SETTLEMENT_WINDOW_CLOSED',
    );
  });

  it.each(['OVERTURN_PASS', 'RERUN_VERIFICATION'] as const)(
    'a solver who files %s against the own pass is refused',
    async (kind) => {
      const { solverId } = await story.submission(winner);
      expect(await story.try(await filing(kind, solverId))).toBe('SETTLEMENT_OWN_SUBMISSION');
    },
  );

  it('S23 a sock puppet’s weak challenge leaves room for a real one, open or lost', async () => {
    const weak = await story.challenge(winner, 'OVERTURN_PASS');
    expect(await story.try(await filing('OVERTURN_PASS', 'prn_real'))).toBeNull();
    await story.elapse(TERMS.responseWindowMs);
    await story.do(await story.resolution(weak, 'UPHOLD_PASS'));
    expect(await story.try(await filing('RERUN_VERIFICATION', 'prn_other'))).toBeNull();
  });

  it('is one at a time for one challenger, who may file another when it has ended', async () => {
    const first = await story.challenge(winner, 'OVERTURN_PASS', 'prn_a');
    expect(await story.try(await filing('RERUN_VERIFICATION', 'prn_a'))).toBe(
      'SETTLEMENT_CHALLENGE_DUPLICATE',
    );
    await story.elapse(TERMS.responseWindowMs);
    await story.do(await story.resolution(first, 'UPHOLD_PASS'));
    expect(await story.try(await filing('RERUN_VERIFICATION', 'prn_a'))).toBeNull();
  });

  it('is one of a bounded number, which free answers do not use up', async () => {
    const policy = { ...POLICY, challengesMax: 2 };
    story = await beginStory(await openFakeBench(policy));
    winner = await story.submit();
    await story.seal(winner, PASS);
    await story.challenge(winner, 'OVERTURN_PASS');
    await story.challenge(winner, 'UPHOLD_PASS');
    await story.challenge(winner, 'UPHOLD_PASS');
    expect(await story.try(await filing('UPHOLD_PASS', 'prn_a'))).toBe(
      'SETTLEMENT_CHALLENGES_FULL',
    );
    expect(await story.try(await filing('OVERTURN_PASS', 'prn_b'))).toBeNull();
    expect(await story.try(await filing('OVERTURN_PASS', 'prn_c'))).toBe(
      'SETTLEMENT_CHALLENGES_FULL',
    );
  });

  it('S23 sock puppets who use up all places silence neither the requester nor the solver', async () => {
    story = await beginStory(await openFakeBench({ ...POLICY, challengesMax: 2 }));
    winner = await story.submit();
    await story.seal(winner, PASS);
    const { solverId } = await story.submission(winner);
    for (const kind of ['OVERTURN_PASS', 'UPHOLD_PASS'] as const) {
      await story.challenge(winner, kind, 'prn_sock_1');
      await story.challenge(winner, kind, 'prn_sock_2');
    }
    expect(await story.try(await filing('UPHOLD_PASS', solverId))).toBeNull();
    expect(await story.try(await filing('RERUN_VERIFICATION', story.requesterId))).toBeNull();
    expect(await story.try(await filing('UPHOLD_PASS', solverId))).toBeNull();
  });

  it('does not count any more when it became void', async () => {
    story = await beginStory(await openFakeBench({ ...POLICY, challengesMax: 1 }));
    const earlier = await story.submit();
    winner = await story.submit();
    await story.breakDown(earlier);
    await story.seal(winner, PASS);
    await story.challenge(winner, 'OVERTURN_PASS');
    await story.do({ kind: 'retry', submissionId: earlier });
    await story.seal(earlier, PASS);
    const challengeId = await story.challenge(earlier, 'OVERTURN_PASS');
    await story.elapse(TERMS.responseWindowMs);
    await story.do(await story.resolution(challengeId, 'OVERTURN_PASS'));
    expect((await story.submission(winner)).state).toBe('PASSED');
    expect(await story.try(await filing('OVERTURN_PASS', 'prn_a'))).toBeNull();
  });

  it('is refused without the bond, and then changes nothing', async () => {
    const poor = await filing('RERUN_VERIFICATION', 'prn_a', TERMS.bondMinor - 1n);
    expect(await story.try(poor)).toBe('SETTLEMENT_FUNDS_INSUFFICIENT');
    expect((await story.read()).challenges).toEqual([]);
    expect((await story.read()).runs).toHaveLength(1);
  });

  it.each(CHALLENGE_KINDS)('%s needs a submission that holds the pass', async (kind) => {
    const other = await story.submit();
    const command = { ...(await filing(kind, 'prn_a')), submissionId: other };
    expect(await story.try(command)).toBe('SETTLEMENT_PASS_NOT_HELD');
  });

  it('BUG-55 for a rerun joins the one that is under way', async () => {
    const first = await story.challengeOf(await story.challenge(winner, 'RERUN_VERIFICATION'));
    await story.do({ kind: 'start', runId: (await story.run(winner, 'RERUN')).id });
    const second = await story.challengeOf(await story.challenge(winner, 'RERUN_VERIFICATION'));
    expect(second.runIds).toEqual(first.runIds);
  });
});

describe('an answer', () => {
  it('is free, and only there where somebody waits for it', async () => {
    expect(await story.try(await filing('UPHOLD_PASS', 'prn_a'))).toBe(
      'SETTLEMENT_NOTHING_TO_ANSWER',
    );
    await story.challenge(winner, 'OVERTURN_PASS');
    const id = await story.challenge(winner, 'UPHOLD_PASS');
    expect(await story.challengeOf(id)).toMatchObject({ state: 'NOTED', bondMinor: 0n });
  });

  it('BUG-67 to a challenge of the last moment has its whole time after the window', async () => {
    const { solverId } = await story.submission(winner);
    await story.elapse(TERMS.challengeWindowMs - 1);
    const challengeId = await story.challenge(winner, 'OVERTURN_PASS');
    await story.advance(TERMS.responseWindowMs - 1);
    expect((await story.read()).contract.state).toBe('IN_CHALLENGE');
    const verdict = await story.resolution(challengeId, 'OVERTURN_PASS');
    expect(await story.try(verdict)).toBe('SETTLEMENT_RESPONSE_RUNNING');
    expect(await story.try(await filing('UPHOLD_PASS', solverId))).toBeNull();
    await story.elapse(1);
    expect(await story.try(await filing('UPHOLD_PASS', 'prn_a'))).toBe(
      'SETTLEMENT_NOTHING_TO_ANSWER',
    );
  });

  it('is one of each person to each challenge', async () => {
    await story.challenge(winner, 'OVERTURN_PASS');
    await story.challenge(winner, 'UPHOLD_PASS', 'prn_a');
    expect(await story.try(await filing('UPHOLD_PASS', 'prn_a'))).toBe(
      'SETTLEMENT_CHALLENGE_DUPLICATE',
    );
    await story.challenge(winner, 'OVERTURN_PASS');
    expect(await story.try(await filing('UPHOLD_PASS', 'prn_a'))).toBeNull();
  });
});

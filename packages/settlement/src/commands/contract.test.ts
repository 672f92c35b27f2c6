import { describe, expect, it } from 'vitest';
import { openFakeBench } from '../testing/fake-bench.ts';
import { BROKEN, beginStory, FAIL, PASS, POLICY, type Story, TERMS } from '../testing/story.ts';

const begin = async (open = true): Promise<Story> =>
  beginStory(await openFakeBench(POLICY), {}, { open });

describe('proving and funding', () => {
  it('open a contract step by step, each once', async () => {
    const story = await begin(false);
    await story.bench.deposit(story.requesterId, TERMS.rewardMinor * 2n);
    expect(await story.try({ kind: 'fund' })).toBe('SETTLEMENT_CONTRACT_STATE_REFUSED');
    expect(await story.try({ kind: 'prove' })).toBeNull();
    expect(await story.try({ kind: 'prove' })).toBe('SETTLEMENT_CONTRACT_STATE_REFUSED');
    expect(await story.try({ kind: 'fund' })).toBeNull();
    expect(await story.try({ kind: 'fund' })).toBe('SETTLEMENT_CONTRACT_STATE_REFUSED');
    expect(await story.balance(`escrow/${story.contractId}`)).toBe(TERMS.rewardMinor);
  });

  it.each([
    ['fund', 'DRAFT', [], /approved first/],
    ['prove', 'PROVED', ['prove'], /waits for its funds/],
    ['fund', 'OPEN', ['prove', 'fund'], /cancel it/],
    ['fund', 'CANCELLED', ['cancel'], /has ended/],
  ] as const)('refuse to %s what is %s, and say what comes next', async (kind, _, before, fix) => {
    const story = await begin(false);
    await story.bench.deposit(story.requesterId, TERMS.rewardMinor);
    for (const step of before) await story.do({ kind: step });
    await expect(story.do({ kind })).rejects.toMatchObject({ fix: expect.stringMatching(fix) });
  });

  it('are too late at the closing time', async () => {
    const story = await begin(false);
    await story.bench.deposit(story.requesterId, TERMS.rewardMinor);
    await story.do({ kind: 'prove' });
    await story.elapse(TERMS.closesInMs);
    expect(await story.try({ kind: 'fund' })).toBe('SETTLEMENT_CONTRACT_CLOSED');
  });
});

describe('editing', () => {
  it('makes a contract that is proved a draft again, which can’t be funded before it is proved anew', async () => {
    const story = await begin(false);
    await story.bench.deposit(story.requesterId, TERMS.rewardMinor);
    await story.do({ kind: 'revise' });
    await story.do({ kind: 'prove' });
    await story.do({ kind: 'revise' });
    expect((await story.read()).contract.state).toBe('DRAFT');
    expect(await story.try({ kind: 'fund' })).toBe('SETTLEMENT_CONTRACT_STATE_REFUSED');
    await story.do({ kind: 'prove' });
    expect(await story.try({ kind: 'fund' })).toBeNull();
  });

  it('changes a contract under money: refused', async () => {
    const story = await begin();
    expect(await story.try({ kind: 'revise' })).toBe('SETTLEMENT_CONTRACT_STATE_REFUSED');
    await story.do({ kind: 'cancel' });
    expect(await story.try({ kind: 'revise' })).toBe('SETTLEMENT_CONTRACT_STATE_REFUSED');
  });
});

// Keeps R-SETTLE-ONCE.
describe('cancelling', () => {
  it.each(['DRAFT', 'PROVED'])('ends a contract that is %s, and moves no money', async (state) => {
    const story = await begin(false);
    if (state === 'PROVED') await story.do({ kind: 'prove' });
    await story.do({ kind: 'cancel' });
    expect((await story.read()).contract.state).toBe('CANCELLED');
    expect(await story.bench.trialBalance()).toEqual([]);
  });

  it('gives the reward back where all submissions are decided', async () => {
    const story = await begin();
    await story.seal(await story.submit(), FAIL);
    await story.seal(await story.submit(), BROKEN);
    await story.do({ kind: 'cancel' });
    expect((await story.read()).contract.state).toBe('CANCELLED');
    expect(await story.balance(`principal/${story.requesterId}/USD`)).toBe(TERMS.rewardMinor);
    expect(await story.try({ kind: 'cancel' })).toBe('SETTLEMENT_CONTRACT_STATE_REFUSED');
  });

  const undecided: [string, (story: Story) => Promise<void>][] = [
    ['RECEIVED', async (story) => void (await story.receive())],
    ['QUEUED', async (story) => void (await story.submit())],
    [
      'RUNNING',
      async (story) =>
        story.do({ kind: 'start', runId: (await story.run(await story.submit())).id }),
    ],
    ['HELD', async (story) => story.breakDown(await story.submit())],
  ];
  it.each(undecided)(
    'a requester who cancels while one is %s is refused',
    async (state, arrange) => {
      const story = await begin();
      await arrange(story);
      expect((await story.read()).submissions).toMatchObject([{ state }]);
      expect(await story.try({ kind: 'cancel' })).toBe('SETTLEMENT_CANCEL_BLOCKED');
      expect(await story.balance(`escrow/${story.contractId}`)).toBe(TERMS.rewardMinor);
    },
  );

  it('a requester who cancels in the window of the winner is refused', async () => {
    const story = await begin();
    await story.seal(await story.submit(), PASS);
    expect(await story.try({ kind: 'cancel' })).toBe('SETTLEMENT_CONTRACT_STATE_REFUSED');
  });

  it('a requester who cancels while a deferred one is verified after an overturn is refused', async () => {
    const story = await begin();
    const first = await story.submit();
    await story.submit();
    await story.seal(first, PASS);
    const challengeId = await story.challenge(first, 'OVERTURN_PASS');
    await story.elapse(TERMS.responseWindowMs);
    await story.do(await story.resolution(challengeId, 'OVERTURN_PASS'));
    expect((await story.read()).contract.state).toBe('OPEN');
    expect(await story.try({ kind: 'cancel' })).toBe('SETTLEMENT_CANCEL_BLOCKED');
  });
});

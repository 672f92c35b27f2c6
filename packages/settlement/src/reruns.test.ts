import { beforeEach, describe, expect, it } from 'vitest';
import { openFakeBench } from './testing/fake-bench.ts';
import {
  BROKEN,
  beginStory,
  DAY_MS,
  FAIL,
  PASS,
  POLICY,
  type Story,
  TERMS,
} from './testing/story.ts';

let story: Story;
let winner: string;
beforeEach(async () => {
  story = await beginStory(await openFakeBench(POLICY));
  winner = await story.submit();
  await story.seal(winner, PASS);
});
const stateOf = async (id: string): Promise<string> => (await story.challengeOf(id)).state;

describe('a rerun', () => {
  it('that passes upholds the pass against all who wait for it, and nobody else', async () => {
    const both = [
      await story.challenge(winner, 'RERUN_VERIFICATION'),
      await story.challenge(winner, 'RERUN_VERIFICATION'),
    ];
    const other = await story.challenge(winner, 'OVERTURN_PASS');
    await story.seal(winner, PASS, 'RERUN');
    for (const id of both) expect(await stateOf(id)).toBe('UPHELD');
    expect(await stateOf(other)).toBe('AWAITING_ARBITER');
  });

  it('S26 that fails once moves no money: another one confirms it first', async () => {
    const both = [
      await story.challenge(winner, 'RERUN_VERIFICATION'),
      await story.challenge(winner, 'RERUN_VERIFICATION'),
    ];
    await story.seal(winner, FAIL, 'RERUN');
    expect((await story.submission(winner)).state).toBe('PASSED');
    const second = await story.run(winner, 'RERUN');
    expect(second.state).toBe('QUEUED');
    for (const id of both) expect((await story.challengeOf(id)).runIds.at(-1)).toBe(second.id);
    await story.seal(winner, FAIL, 'RERUN');
    expect((await story.submission(winner)).state).toBe('OVERTURNED');
    for (const id of both) expect(await stateOf(id)).toBe('OVERTURNED');
  });

  it('S26 that fails and then passes is for the arbiter, with the whole time for it', async () => {
    const id = await story.challenge(winner, 'RERUN_VERIFICATION');
    await story.elapse(5 * DAY_MS);
    await story.seal(winner, FAIL, 'RERUN');
    await story.seal(winner, PASS, 'RERUN');
    expect(await story.challengeOf(id)).toMatchObject({
      state: 'AWAITING_ARBITER',
      decideBy: new Date((await story.bench.now()).getTime() + POLICY.arbitrationMs),
    });
  });

  it('S26 rerun until it fails: a failure after a rerun that passed is for the arbiter', async () => {
    await story.challenge(winner, 'RERUN_VERIFICATION');
    await story.seal(winner, PASS, 'RERUN');
    const again = await story.challenge(winner, 'RERUN_VERIFICATION');
    await story.seal(winner, FAIL, 'RERUN');
    expect(await stateOf(again)).toBe('AWAITING_ARBITER');
    expect((await story.submission(winner)).state).toBe('PASSED');
  });

  it('that decides nothing is for the arbiter, who has the whole time after that of the solver', async () => {
    const id = await story.challenge(winner, 'RERUN_VERIFICATION');
    const { decideBy } = await story.challengeOf(id);
    await story.elapse(TERMS.responseWindowMs / 2);
    await story.seal(winner, BROKEN, 'RERUN');
    expect(await story.challengeOf(id)).toMatchObject({ state: 'AWAITING_ARBITER', decideBy });
  });

  it('whose tries are used up is for the arbiter, and holds no submission', async () => {
    const id = await story.challenge(winner, 'RERUN_VERIFICATION');
    await story.breakDown(winner, 'RERUN');
    expect(await stateOf(id)).toBe('AWAITING_ARBITER');
    expect((await story.submission(winner)).state).toBe('PASSED');
    expect((await story.run(winner, 'RERUN')).state).toBe('HELD');
  });

  it('blocks settlement until it is sealed, however long that takes', async () => {
    await story.challenge(winner, 'RERUN_VERIFICATION');
    await story.advance(TERMS.challengeWindowMs + 100 * DAY_MS);
    expect((await story.read()).contract.state).toBe('IN_CHALLENGE');
    await story.seal(winner, PASS, 'RERUN');
    await story.do({ kind: 'advance' });
    expect((await story.read()).contract.state).toBe('SETTLED');
  });
});

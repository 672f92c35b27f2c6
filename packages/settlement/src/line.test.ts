import { beforeEach, describe, expect, it } from 'vitest';
import { openFakeBench } from './testing/fake-bench.ts';
import { BROKEN, beginStory, FAIL, PASS, POLICY, type Story, TERMS } from './testing/story.ts';

let story: Story;
beforeEach(async () => {
  story = await beginStory(await openFakeBench(POLICY));
});

const states = async (): Promise<string[]> =>
  (await story.read()).submissions.map(({ state }) => state);

// Keeps R-SETTLE-ORDER.
describe('the line', () => {
  it('a later submission that finishes first waits for those received before it', async () => {
    const [first, second] = [await story.submit(), await story.submit()];
    await story.seal(second, PASS);
    expect(await states()).toEqual(['QUEUED', 'VERIFIED']);
    expect((await story.read()).contract.state).toBe('OPEN');
    await story.seal(first, PASS);
    expect(await states()).toEqual(['PASSED', 'DEFERRED']);
    expect((await story.read()).contract.state).toBe('IN_CHALLENGE');
  });

  it('says nothing of a verdict that waits', async () => {
    const bench = await openFakeBench(POLICY);
    story = await beginStory(bench);
    await story.receive();
    const second = await story.submit();
    await story.seal(second, FAIL);
    const told = bench.store.effects.filter((effect) => effect.kind === 'event');
    const verified = told.find(({ name }) => name === 'submission_verified');
    expect(verified).toEqual(expect.objectContaining({ submissionId: second, data: {} }));
    expect(told.flatMap(({ data }) => Object.values(data))).not.toContain(FAIL.reason);
  });

  it('goes on from a failure to the next that waits, and commits all that it lets through', async () => {
    const ids = [await story.submit(), await story.submit(), await story.submit()] as const;
    await story.seal(ids[2], PASS);
    await story.seal(ids[1], BROKEN);
    await story.seal(ids[0], FAIL);
    expect(await states()).toEqual(['FAILED', 'INCONCLUSIVE', 'PASSED']);
  });

  it('waits for a submission whose commit is not captured yet', async () => {
    await story.receive();
    const second = await story.submit();
    await story.seal(second, PASS);
    expect(await states()).toEqual(['RECEIVED', 'VERIFIED']);
    await story.advance(POLICY.captureGraceMs);
    expect(await states()).toEqual(['INCONCLUSIVE', 'PASSED']);
  });

  it('is not held up by a submission that is HELD', async () => {
    const [first, second] = [await story.submit(), await story.submit()];
    await story.breakDown(first);
    await story.seal(second, PASS);
    expect(await states()).toEqual(['HELD', 'PASSED']);
  });

  it('opens the window with the pass, not with the verdict', async () => {
    const [first, second] = [await story.submit(), await story.submit()];
    await story.seal(second, PASS);
    await story.elapse(1_000);
    await story.seal(first, FAIL);
    const now = await story.bench.now();
    expect((await story.submission(second)).window).toEqual({
      opensAt: now,
      closesAt: new Date(now.getTime() + TERMS.challengeWindowMs),
    });
  });
});

describe('behind the one that holds the pass', () => {
  it('queued runs are abandoned, a running one may finish, and an uncaptured one waits for its commit', async () => {
    const first = await story.submit();
    const [queued, running, received] = [
      await story.submit(),
      await story.submit(),
      await story.receive(),
    ];
    await story.do({ kind: 'start', runId: (await story.run(running)).id });
    await story.seal(first, PASS);
    expect(await states()).toEqual(['PASSED', 'DEFERRED', 'DEFERRED', 'RECEIVED']);
    expect((await story.run(queued)).state).toBe('ABANDONED');
    expect((await story.run(running)).state).toBe('RUNNING');
    await story.do({ kind: 'capture', submissionId: received });
    expect((await story.submission(received)).state).toBe('DEFERRED');
    expect((await story.read()).runs.filter((run) => run.submissionId === received)).toEqual([]);
  });

  it.each([
    ['FAILED', FAIL],
    ['INCONCLUSIVE', BROKEN],
    ['DEFERRED', PASS],
  ])('a run that finishes makes it %s, at once', async (state, verdict) => {
    const [first, second] = [await story.submit(), await story.submit()];
    const { id: runId } = await story.run(second);
    await story.do({ kind: 'start', runId });
    await story.seal(first, PASS);
    await story.do({ kind: 'seal', runId, attempt: 1, verdict });
    expect(await story.submission(second)).toMatchObject({ state, verdict });
  });

  it.each([
    ['FAILED', FAIL],
    ['INCONCLUSIVE', BROKEN],
    ['DEFERRED', PASS],
  ])('a verdict that waited makes it %s', async (state, verdict) => {
    const [first, second] = [await story.submit(), await story.submit()];
    await story.seal(second, verdict);
    await story.seal(first, PASS);
    expect(await story.submission(second)).toMatchObject({ state, verdict });
  });
});

describe('when the pass comes free', () => {
  const overturn = async (id: string): Promise<void> => {
    const challengeId = await story.challenge(id, 'OVERTURN_PASS');
    await story.elapse(TERMS.responseWindowMs);
    await story.do(await story.resolution(challengeId, 'OVERTURN_PASS'));
  };

  it('the earliest deferred one is verified, and those behind it wait for that', async () => {
    const ids = [await story.submit(), await story.submit(), await story.submit()] as const;
    await story.do({ kind: 'start', runId: (await story.run(ids[2])).id });
    await story.seal(ids[0], PASS);
    await story.do({
      kind: 'seal',
      runId: (await story.run(ids[2])).id,
      attempt: 1,
      verdict: PASS,
    });
    await overturn(ids[0]);
    expect(await states()).toEqual(['OVERTURNED', 'QUEUED', 'DEFERRED']);
    expect((await story.read()).contract.state).toBe('OPEN');
    await story.seal(ids[1], FAIL);
    expect(await states()).toEqual(['OVERTURNED', 'FAILED', 'PASSED']);
  });

  it('a deferred one that has passed already takes it at once, with a whole window', async () => {
    const [first, second] = [await story.submit(), await story.submit()];
    await story.seal(second, PASS);
    await story.seal(first, PASS);
    await overturn(first);
    const opensAt = await story.bench.now();
    expect(await story.submission(second)).toMatchObject({ state: 'PASSED', window: { opensAt } });
    expect((await story.read()).contract.state).toBe('IN_CHALLENGE');
  });

  it('an attempt that still runs decides, and no second run is made', async () => {
    const [first, second] = [await story.submit(), await story.submit()];
    await story.do({ kind: 'start', runId: (await story.run(second)).id });
    await story.seal(first, PASS);
    await overturn(first);
    expect(await states()).toEqual(['OVERTURNED', 'RUNNING']);
    expect((await story.read()).runs.filter((run) => run.submissionId === second)).toHaveLength(1);
  });

  it('a promoted one may still win after the closing time', async () => {
    const [first, second] = [await story.submit(), await story.submit()];
    await story.seal(first, PASS);
    await overturn(first);
    await story.advance(TERMS.closesInMs);
    await story.seal(second, PASS);
    await story.advance(TERMS.challengeWindowMs);
    expect(await states()).toEqual(['OVERTURNED', 'PAID']);
  });
});

describe('one that was held or undecided, and passes after all', () => {
  it('takes the pass from one received later, which keeps its verdict; challenges of that one are void', async () => {
    const [first, second] = [await story.submit(), await story.submit()];
    await story.breakDown(first);
    await story.seal(second, PASS);
    const rerun = await story.challenge(second, 'RERUN_VERIFICATION');
    const overturn = await story.challenge(second, 'OVERTURN_PASS');
    await story.do({ kind: 'retry', submissionId: first });
    await story.seal(first, PASS);

    expect(await states()).toEqual(['PASSED', 'DEFERRED']);
    expect((await story.submission(second)).verdict).toEqual(PASS);
    expect((await story.run(second, 'RERUN')).state).toBe('ABANDONED');
    for (const id of [rerun, overturn]) {
      expect((await story.challengeOf(id)).state).toBe('VOIDED');
      expect(await story.balance(`bond/${id}`)).toBe(0n);
    }
    const opensAt = await story.bench.now();
    expect((await story.submission(first)).window).toMatchObject({ opensAt });
  });

  it('holds up the settlement of the later one until it is decided', async () => {
    const [first, second] = [await story.submit(), await story.submit()];
    await story.seal(first, BROKEN);
    await story.seal(second, PASS);
    await story.do({ kind: 'retry', submissionId: first });
    await story.advance(TERMS.challengeWindowMs);
    expect(await states()).toEqual(['QUEUED', 'PASSED']);
    await story.seal(first, FAIL);
    await story.do({ kind: 'advance' });
    expect(await states()).toEqual(['FAILED', 'PAID']);
  });
});

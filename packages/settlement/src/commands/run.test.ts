import { beforeEach, describe, expect, it } from 'vitest';
import { type FakeBench, openFakeBench } from '../testing/fake-bench.ts';
import { beginStory, FAIL, PASS, POLICY, type Story, TERMS } from '../testing/story.ts';
import { retryDelayMs } from './run.ts';

const STALE = 'SETTLEMENT_RUN_ATTEMPT_STALE';
const NOT_WANTED = 'SETTLEMENT_RUN_NOT_WANTED';

let bench: FakeBench;
let story: Story;
beforeEach(async () => {
  bench = await openFakeBench(POLICY);
  story = await beginStory(bench);
});

/** A submission with a run that is RUNNING in attempt 1. */
async function startOne(): Promise<{ id: string; runId: string }> {
  const id = await story.submit();
  const { id: runId } = await story.run(id);
  await story.do({ kind: 'start', runId });
  return { id, runId };
}

// Keeps R-SETTLE-FENCE.
describe('an attempt', () => {
  it('begins with the next number, and the submission runs', async () => {
    const { id } = await startOne();
    expect(await story.run(id)).toMatchObject({ state: 'RUNNING', attempt: 1, tries: 0 });
    expect((await story.submission(id)).state).toBe('RUNNING');
  });

  it('S27 of an older number seals, fails and gives back nothing', async () => {
    const { id, runId } = await startOne();
    await story.do({ kind: 'start', runId });
    expect(await story.try({ kind: 'seal', runId, attempt: 1, verdict: PASS })).toBe(STALE);
    expect(await story.try({ kind: 'fail', runId, attempt: 1, reason: 'INTERNAL' })).toBe(STALE);
    expect(await story.try({ kind: 'release', runId, attempt: 1 })).toBe(STALE);
    expect(await story.run(id)).toMatchObject({ state: 'RUNNING', attempt: 2, verdict: null });
  });

  it('seals once', async () => {
    const { id, runId } = await startOne();
    await story.do({ kind: 'seal', runId, attempt: 1, verdict: FAIL });
    expect(await story.try({ kind: 'seal', runId, attempt: 1, verdict: PASS })).toBe(STALE);
    expect(await story.try({ kind: 'start', runId })).toBe(NOT_WANTED);
    expect(await story.submission(id)).toMatchObject({ state: 'FAILED', verdict: FAIL });
  });

  it('of a run that is queued again has no result', async () => {
    const { runId } = await startOne();
    await story.do({ kind: 'release', runId, attempt: 1 });
    expect(await story.try({ kind: 'seal', runId, attempt: 1, verdict: PASS })).toBe(STALE);
  });

  it('of a run that nobody knows is refused', async () => {
    expect(await story.try({ kind: 'start', runId: 'run_x' })).toBe(NOT_WANTED);
    const seal = { kind: 'seal', runId: 'run_x', attempt: 1, verdict: PASS } as const;
    expect(await story.try(seal)).toBe(STALE);
  });
});

describe('trouble of ours', () => {
  it('is followed by another try, after a time that doubles up to a bound', async () => {
    const { id, runId } = await startOne();
    await story.do({ kind: 'fail', runId, attempt: 1, reason: 'HOST_DISK_FULL' });
    expect(await story.run(id)).toMatchObject({
      state: 'QUEUED',
      attempt: 1,
      tries: 1,
      lastFailure: 'HOST_DISK_FULL',
    });
    expect((await story.submission(id)).state).toBe('QUEUED');
    expect(bench.store.effects.at(-1)).toMatchObject({
      kind: 'enqueue_run',
      runId,
      delayMs: 5_000,
    });
    expect([1, 2, 3, 4, 30].map(retryDelayMs)).toEqual([5_000, 10_000, 20_000, 40_000, 300_000]);
  });

  it('counts no try where a worker drains', async () => {
    const { id, runId } = await startOne();
    await story.do({ kind: 'release', runId, attempt: 1 });
    expect(await story.run(id)).toMatchObject({ state: 'QUEUED', tries: 0 });
  });

  it('BUG-30 a poison submission that kills every worker is held, and the line moves on', async () => {
    const { id, runId } = await startOne();
    const second = await story.submit();
    for (let lost = 1; lost <= POLICY.runTriesMax; lost += 1)
      await story.do({ kind: 'start', runId });
    expect(await story.run(id)).toMatchObject({ state: 'HELD', tries: POLICY.runTriesMax });
    expect((await story.submission(id)).state).toBe('HELD');
    expect(await story.try({ kind: 'start', runId })).toBe(NOT_WANTED);
    await story.seal(second, PASS);
    expect((await story.submission(second)).state).toBe('PASSED');
  });

  it('is nobody’s fault when the operator’s time is over: undecided, with our reason', async () => {
    const id = await story.submit();
    await story.breakDown(id);
    await story.advance(POLICY.heldGraceMs - 1);
    expect((await story.submission(id)).state).toBe('HELD');
    await story.advance(1);
    expect(await story.submission(id)).toMatchObject({
      state: 'INCONCLUSIVE',
      verdict: { verdict: 'INCONCLUSIVE', reason: 'ENGINE_UNAVAILABLE' },
    });
  });

  it.each(['fail', 'release', 'start'] as const)(
    'ends the run of a deferred submission with the attempt: %s',
    async (kind) => {
      const first = await story.submit();
      const { id, runId } = await startOne();
      await story.seal(first, PASS);
      await story.do(
        kind === 'fail'
          ? { kind, runId, attempt: 1, reason: 'INTERNAL' }
          : kind === 'release'
            ? { kind, runId, attempt: 1 }
            : { kind, runId },
      );
      expect((await story.run(id)).state).toBe('ABANDONED');
      expect((await story.submission(id)).state).toBe('DEFERRED');
    },
  );
});

describe('a run that nobody waits for', () => {
  it('is abandoned when the contract is settled', async () => {
    const first = await story.submit();
    const { id, runId } = await startOne();
    await story.seal(first, PASS);
    await story.advance(TERMS.challengeWindowMs);
    expect(await story.run(id)).toMatchObject({ state: 'ABANDONED' });
    expect((await story.submission(id)).state).toBe('SUPERSEDED');
    expect(await story.try({ kind: 'start', runId })).toBe(NOT_WANTED);
    expect(await story.try({ kind: 'seal', runId, attempt: 1, verdict: PASS })).toBe(STALE);
  });
});

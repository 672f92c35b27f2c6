import { describe, expect, it } from 'vitest';
import { openFakeBench } from '../testing/fake-bench.ts';
import {
  BROKEN,
  beginStory,
  FAIL,
  PASS,
  POLICY,
  type Story,
  TERMS,
  UNREACHABLE,
} from '../testing/story.ts';

const begin = async (policy = POLICY): Promise<Story> => beginStory(await openFakeBench(policy));
const submitAs = (story: Story, solverId: string) =>
  story.try({ kind: 'submit', submissionId: story.bench.newId('submission'), solverId });

describe('submitting', () => {
  it('has the commit looked for', async () => {
    const bench = await openFakeBench(POLICY);
    const story = await beginStory(bench);
    const id = await story.handIn();
    expect(await story.submission(id)).toMatchObject({ state: 'RECEIVED', captureBy: null });
    expect(bench.store.effects.at(-1)).toMatchObject({ kind: 'enqueue_capture', submissionId: id });
  });

  it('a requester who submits to the own contract is refused', async () => {
    const story = await begin();
    expect(await submitAs(story, story.requesterId)).toBe('SETTLEMENT_OWN_CONTRACT');
  });

  it('is possible until the closing time, also while another holds the pass', async () => {
    const story = await begin();
    await story.seal(await story.submit(), PASS);
    await story.elapse(TERMS.closesInMs - 1);
    expect(await submitAs(story, 'prn_late')).toBeNull();
    await story.elapse(1);
    expect(await submitAs(story, 'prn_late')).toBe('SETTLEMENT_CONTRACT_CLOSED');
  });

  it('is refused before the reward is in escrow, and after the end', async () => {
    const bench = await openFakeBench(POLICY);
    const draft = await beginStory(bench, {}, { open: false });
    expect(await submitAs(draft, 'prn_a')).toBe('SETTLEMENT_CONTRACT_STATE_REFUSED');
    await draft.do({ kind: 'prove' });
    expect(await submitAs(draft, 'prn_a')).toBe('SETTLEMENT_CONTRACT_STATE_REFUSED');
    await draft.do({ kind: 'cancel' });
    expect(await submitAs(draft, 'prn_a')).toBe('SETTLEMENT_CONTRACT_STATE_REFUSED');
  });

  it('S28 a solver who floods the line has bounded places, and so has the line', async () => {
    const story = await begin({ ...POLICY, lineLengthMax: 3, linePerSolverMax: 2 });
    await story.submit('prn_a');
    const second = await story.submit('prn_a');
    expect(await submitAs(story, 'prn_a')).toBe('SETTLEMENT_SOLVER_LINE_FULL');
    await story.submit('prn_b');
    expect(await submitAs(story, 'prn_c')).toBe('SETTLEMENT_LINE_FULL');
    await story.seal(second, FAIL);
    expect(await submitAs(story, 'prn_c')).toBe('SETTLEMENT_LINE_FULL');
  });

  it('H15 a solver who tries and tries to learn what is hidden has bounded tries', async () => {
    const story = await begin({ ...POLICY, attemptsPerSolverMax: 3 });
    for (let tries = 0; tries < 3; tries += 1) await story.submit('prn_a');
    expect(await submitAs(story, 'prn_a')).toBe('SETTLEMENT_ATTEMPTS_USED');
    expect(await submitAs(story, 'prn_b')).toBeNull();
  });

  it.each([FAIL, PASS])('has a place again when one of the line is decided', async (verdict) => {
    const story = await begin({ ...POLICY, lineLengthMax: 1 });
    await story.seal(await story.submit(), verdict);
    expect(await submitAs(story, 'prn_c')).toBeNull();
  });
});

describe('capturing', () => {
  it('has a bounded time from the first try, whatever is tried after it', async () => {
    const story = await begin();
    const submissionId = await story.receive();
    const captureBy = new Date((await story.bench.now()).getTime() + POLICY.captureGraceMs);
    await story.elapse(POLICY.captureGraceMs - 1);
    await story.do({ kind: 'try_capture', submissionId });
    expect(await story.submission(submissionId)).toMatchObject({ state: 'RECEIVED', captureBy });
    await story.elapse(1);
    await story.do({ kind: 'try_capture', submissionId });
    expect(await story.submission(submissionId)).toMatchObject({
      state: 'INCONCLUSIVE',
      verdict: { reason: 'REPOSITORY_UNREACHABLE' },
    });
    expect(await story.try({ kind: 'try_capture', submissionId })).toBe(
      'SETTLEMENT_CAPTURE_NOT_WANTED',
    );
  });

  it('S28 slow servers of others, or workers that are down, cost nobody the place', async () => {
    const story = await begin();
    const honest = await story.handIn();
    const second = await story.submit();
    await story.seal(second, PASS);
    await story.advance(TERMS.closesInMs);
    expect((await story.submission(second)).state).toBe('VERIFIED');
    await story.do({ kind: 'try_capture', submissionId: honest });
    await story.elapse(POLICY.captureGraceMs - 1);
    await story.do({ kind: 'capture', submissionId: honest });
    await story.seal(honest, PASS);
    expect((await story.submission(honest)).state).toBe('PASSED');
    expect((await story.submission(second)).state).toBe('DEFERRED');
  });

  it('queues a run', async () => {
    const bench = await openFakeBench(POLICY);
    const story = await beginStory(bench);
    const id = await story.submit();
    const run = await story.run(id);
    expect(await story.submission(id)).toMatchObject({ state: 'QUEUED', captured: true });
    expect(run).toMatchObject({ state: 'QUEUED', attempt: 0, tries: 0 });
    expect(bench.store.effects.at(-1)).toMatchObject({
      kind: 'enqueue_run',
      runId: run.id,
      delayMs: 0,
    });
  });

  it('counts just before the grace is over, and not when it is', async () => {
    const story = await begin();
    const [inTime, late] = [await story.receive(), await story.receive()];
    await story.elapse(POLICY.captureGraceMs - 1);
    await story.do({ kind: 'capture', submissionId: inTime });
    await story.elapse(1);
    await story.do({ kind: 'capture', submissionId: late });
    expect((await story.submission(inTime)).state).toBe('QUEUED');
    expect(await story.submission(late)).toMatchObject({
      state: 'INCONCLUSIVE',
      verdict: { reason: 'REPOSITORY_UNREACHABLE' },
    });
  });

  it('BUG-71 S21 a claim on work that nobody can fetch holds nobody up', async () => {
    const story = await begin();
    const claim = await story.receive();
    const honest = await story.submit();
    await story.seal(honest, PASS);
    await story.advance(POLICY.captureGraceMs);
    expect((await story.submission(claim)).state).toBe('INCONCLUSIVE');
    expect((await story.submission(honest)).state).toBe('PASSED');
  });

  it('is wanted once', async () => {
    const story = await begin();
    const submissionId = await story.submit();
    const refused = 'SETTLEMENT_CAPTURE_NOT_WANTED';
    expect(await story.try({ kind: 'capture', submissionId })).toBe(refused);
    expect(await story.try({ kind: 'refuse_capture', submissionId, verdict: FAIL })).toBe(refused);
  });
});

describe('a commit that is refused before any run', () => {
  it('ends at once where its source can not be had', async () => {
    const story = await begin();
    await story.submit();
    const submissionId = await story.receive();
    await story.do({ kind: 'refuse_capture', submissionId, verdict: UNREACHABLE });
    expect(await story.submission(submissionId)).toMatchObject({
      state: 'INCONCLUSIVE',
      verdict: UNREACHABLE,
    });
  });

  it.each([
    ['FAILED', FAIL],
    ['INCONCLUSIVE', BROKEN],
  ])('is %s in its turn', async (state, verdict) => {
    const story = await begin();
    const first = await story.submit();
    const submissionId = await story.receive();
    await story.do({ kind: 'refuse_capture', submissionId, verdict });
    expect((await story.submission(submissionId)).state).toBe('VERIFIED');
    await story.seal(first, FAIL);
    expect(await story.submission(submissionId)).toMatchObject({ state, verdict });
  });

  it('is no failure of the solver when we learn of it too late', async () => {
    const story = await begin();
    const submissionId = await story.receive();
    await story.elapse(POLICY.captureGraceMs);
    await story.do({ kind: 'refuse_capture', submissionId, verdict: FAIL });
    expect(await story.submission(submissionId)).toMatchObject({
      state: 'INCONCLUSIVE',
      verdict: { reason: 'REPOSITORY_UNREACHABLE' },
    });
  });

  it('is never one that passes', async () => {
    const story = await begin();
    const submissionId = await story.receive();
    await expect(
      story.try({ kind: 'refuse_capture', submissionId, verdict: PASS }),
    ).rejects.toMatchObject({ code: 'SETTLEMENT_CASE_INCONSISTENT' });
  });
});

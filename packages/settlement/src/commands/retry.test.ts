import { beforeEach, describe, expect, it } from 'vitest';
import { decide } from '../decide.ts';
import { type FakeBench, openFakeBench } from '../testing/fake-bench.ts';
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

const REFUSED = 'SETTLEMENT_RETRY_REFUSED';

let bench: FakeBench;
let story: Story;
beforeEach(async () => {
  bench = await openFakeBench(POLICY);
  story = await beginStory(bench);
});

describe('trying again', () => {
  it('gives a held submission a new run in its old place', async () => {
    const [first, second] = [await story.submit(), await story.submit()];
    await story.breakDown(first);
    await story.do({ kind: 'retry', submissionId: first });
    expect(await story.submission(first)).toMatchObject({ state: 'QUEUED', heldUntil: null });
    expect(await story.run(first)).toMatchObject({ state: 'QUEUED', attempt: 0, tries: 0 });
    await story.seal(second, PASS);
    expect((await story.submission(second)).state).toBe('VERIFIED');
  });

  it('gives one that the contract left undecided a new run, once the contract can be decided', async () => {
    const id = await story.submit();
    await story.seal(id, BROKEN);
    await story.do({ kind: 'retry', submissionId: id });
    await story.seal(id, PASS);
    expect(await story.submission(id)).toMatchObject({ state: 'PASSED', verdict: PASS });
  });

  it('gives one whose hold ran out another chance: the trouble was ours', async () => {
    const id = await story.submit();
    await story.breakDown(id);
    await story.advance(POLICY.heldGraceMs);
    expect(await story.try({ kind: 'retry', submissionId: id })).toBeNull();
  });

  it('captures afresh what was never captured', async () => {
    const submissionId = await story.receive();
    await story.do({ kind: 'refuse_capture', submissionId, verdict: BROKEN });
    await story.elapse(POLICY.captureGraceMs);
    await story.do({ kind: 'retry', submissionId });
    expect(await story.submission(submissionId)).toMatchObject({
      state: 'RECEIVED',
      captureBy: null,
    });
    expect(await story.try({ kind: 'capture', submissionId })).toBeNull();
  });

  it('does not wait for one received later who holds the pass', async () => {
    const [first, second] = [await story.submit(), await story.submit()];
    await story.breakDown(first);
    await story.seal(second, PASS);
    const told = bench.store.effects.length;
    await story.do({ kind: 'retry', submissionId: first });
    const names = bench.store.effects
      .slice(told)
      .map((effect) => (effect.kind === 'event' ? effect.name : effect.kind));
    expect(names).toEqual(['submission_queued', 'run_queued', 'enqueue_run']);
  });

  it('waits behind another who holds the pass', async () => {
    const [first, second] = [await story.submit(), await story.submit()];
    await story.breakDown(second);
    await story.seal(first, PASS);
    await story.do({ kind: 'retry', submissionId: second });
    expect((await story.submission(second)).state).toBe('DEFERRED');
    expect((await story.run(second)).state).toBe('HELD');
  });

  it('is refused for what is decided, what is under way, and a source that could not be had', async () => {
    const failed = await story.submit();
    await story.seal(failed, FAIL);
    const gone = await story.receive();
    await story.do({ kind: 'refuse_capture', submissionId: gone, verdict: UNREACHABLE });
    const queued = await story.submit();
    for (const submissionId of [failed, gone, queued, 'sub_x'])
      expect(await story.try({ kind: 'retry', submissionId })).toBe(REFUSED);
  });

  it('is refused for a source that could not be had, also where a store has it in the case', async () => {
    const submissionId = await story.receive();
    await story.do({ kind: 'refuse_capture', submissionId, verdict: UNREACHABLE });
    const context = { now: await bench.now(), newId: bench.newId, policy: POLICY };
    const decision = decide(await story.read(), { kind: 'retry', submissionId }, context);
    expect(decision).toMatchObject({ kind: 'refused', error: { code: REFUSED } });
  });

  it('is refused after the end of the contract', async () => {
    const id = await story.submit();
    await story.seal(id, BROKEN);
    await story.advance(TERMS.closesInMs);
    expect(await story.try({ kind: 'retry', submissionId: id })).toBe(
      'SETTLEMENT_CONTRACT_STATE_REFUSED',
    );
  });
});

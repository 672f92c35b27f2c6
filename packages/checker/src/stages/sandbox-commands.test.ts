import { describe, expect, it } from 'vitest';
import { BROKEN_CODES } from '../run/stage-end.ts';
import { CheckCaseSchema } from './check-case.ts';
import { DEFAULT_STAGE_POLICY } from './policy.ts';
import {
  createStageBench,
  HOUR_MS,
  PARTNER,
  PROGRAM,
  REFUTED,
  SANDBOX,
  SCORED,
  toProtocol,
  toReview,
  VERIFIED,
} from './testing/stage-bench.ts';

const scored = (score: number) => ({ ...VERIFIED, score }) as const;

describe('a check', () => {
  it('is verified when every stage is, in order', () => {
    const bench = createStageBench([SANDBOX, { ...SANDBOX, key: 'content' }]);
    expect(bench.run(VERIFIED)).toMatchObject({ state: 'WAITING_SANDBOX', endedAt: null });
    expect(bench.run(VERIFIED)).toMatchObject({
      state: 'VERIFIED',
      results: [{ stage: 'form' }, { stage: 'content', outcome: 'verified', reason: null }],
    });
    expect(bench.effects.filter(({ kind }) => kind === 'enqueue_check')).toHaveLength(2);
    expect(bench.effects.at(-1)).toMatchObject({ kind: 'check_ended' });
  });

  it('stops at the first stage that does not pass: nobody is asked about the rest', () => {
    const bench = createStageBench([SANDBOX, toReview(toProtocol()), PARTNER]);
    expect(bench.run(REFUTED)).toMatchObject({
      state: 'REFUTED',
      results: [{ outcome: 'refuted', reason: 'REFUTED', message: 'no such colouring' }],
      review: null,
    });
  });

  it.each([
    [[scored(1), scored(2), VERIFIED], 'VERIFIED', 2],
    // Zero is a score.
    [[scored(1), scored(0), VERIFIED], 'VERIFIED', 0],
    [[scored(1), scored(2), REFUTED], 'REFUTED', null],
  ])('has the last score, and only once all stages are verified: %#', (ends, state, score) => {
    const bench = createStageBench([SCORED, { ...SCORED, key: 'second' }, SANDBOX]);
    for (const end of ends) bench.run(end);
    expect(bench.check()).toMatchObject({ state, score });
  });

  it('takes no score from a stage that is to have none', () => {
    const bench = createStageBench([SANDBOX]);
    expect(bench.run(scored(9))).toMatchObject({ score: null, results: [{ score: null }] });
  });

  it('is not refuted by what was never put before the program', () => {
    const bench = createStageBench([SANDBOX]);
    bench.run({ kind: 'unmet', message: 'expected an artifact for document, got none' });
    expect(bench.check()).toMatchObject({
      state: 'INCONCLUSIVE',
      results: [{ reason: 'REQUIREMENTS_UNMET' }],
    });
  });

  it.each(BROKEN_CODES)('is not refuted by a broken program: %s', (code) => {
    const bench = createStageBench([SANDBOX]);
    bench.run({ kind: 'broken', code, message: 'it went wrong' });
    expect(bench.check()).toMatchObject({
      state: 'INCONCLUSIVE',
      results: [{ reason: 'VERIFIER_BROKEN', broken: code, message: `${code}: it went wrong` }],
    });
  });

  it('is read as it was stored before the code of what broke was kept', () => {
    const bench = createStageBench([SANDBOX]);
    bench.run({ kind: 'broken', code: 'TIME_LIMIT', message: 'late' });
    const { results, ...check } = bench.check();
    const old = results.map(({ broken: _broken, ...result }) => result);
    expect(CheckCaseSchema.parse({ ...check, results: old }).results).toEqual([
      { ...results[0], broken: null },
    ]);
  });

  it('names what is missing where nothing can run a stage', () => {
    const bench = createStageBench([SANDBOX]);
    const { attempt } = bench.do({ kind: 'start' });
    bench.do({ kind: 'unavailable', attempt, mechanism: 'a conforming implementation' });
    expect(bench.check()).toMatchObject({
      state: 'INCONCLUSIVE',
      results: [{ reason: 'STAGE_UNAVAILABLE', mechanism: 'a conforming implementation' }],
    });
  });

  it('records who decided and when', () => {
    const bench = createStageBench([SANDBOX]);
    const since = bench.now().toISOString();
    bench.elapse(HOUR_MS);
    expect(bench.run(VERIFIED).results).toMatchObject([
      {
        decidedBy: { kind: 'program', ...PROGRAM },
        startedAt: since,
        decidedAt: bench.now().toISOString(),
      },
    ]);
  });
});

// Keeps R-CHECK-FENCE.
describe('an attempt', () => {
  it('that was lost seals nothing, whatever it found', () => {
    const bench = createStageBench([SANDBOX]);
    const lost = bench.do({ kind: 'start' }).attempt;
    const { attempt } = bench.do({ kind: 'start' });
    const seal = { kind: 'seal', end: VERIFIED, program: PROGRAM } as const;
    expect(bench.try({ ...seal, attempt: lost })).toBe('CHECKER_ATTEMPT_STALE');
    expect(bench.try({ ...seal, attempt })).toBeNull();
    expect(bench.try({ ...seal, attempt })).toBe('CHECKER_ATTEMPT_STALE');
  });

  it('of the stage before says nothing of the next', () => {
    const bench = createStageBench([SANDBOX, { ...SANDBOX, key: 'content' }]);
    const { attempt } = bench.run(VERIFIED);
    bench.do({ kind: 'start' });
    const late = { kind: 'seal', attempt, end: REFUTED, program: PROGRAM } as const;
    expect(bench.try(late)).toBe('CHECKER_ATTEMPT_STALE');
  });

  it('that nobody began seals nothing', () => {
    const bench = createStageBench([SANDBOX]);
    const seal = { kind: 'seal', attempt: 0, end: VERIFIED, program: PROGRAM } as const;
    expect(bench.try(seal)).toBe('CHECKER_ATTEMPT_STALE');
  });

  it('is not begun for a check that waits for people', () => {
    const bench = createStageBench([toReview(toProtocol())]);
    expect(bench.try({ kind: 'start' })).toBe('CHECKER_CHECK_NOT_WAITING');
  });

  it('that is given back costs no try', () => {
    const bench = createStageBench([SANDBOX]);
    const { attempt } = bench.do({ kind: 'start' });
    expect(bench.do({ kind: 'release', attempt })).toMatchObject({ tries: 0, isRunning: false });
    expect(bench.effects.at(-1)).toMatchObject({ kind: 'enqueue_check', delayMs: 0 });
  });
});

describe('trouble of ours', () => {
  const breakDown = (bench: ReturnType<typeof createStageBench>, times: number) => {
    for (let count = 0; count < times; count += 1) {
      const { attempt } = bench.do({ kind: 'start' });
      bench.do({ kind: 'fail', attempt, reason: 'ENGINE_UNAVAILABLE' });
    }
  };

  it('is tried again, later every time', () => {
    const bench = createStageBench([SANDBOX]);
    breakDown(bench, 2);
    const delays = bench.effects.flatMap((each) =>
      each.kind === 'enqueue_check' ? [each.delayMs] : [],
    );
    expect(delays).toEqual([0, 5_000, 10_000]);
  });

  it('holds the check when the tries are used up, and the operator has it tried again', () => {
    const bench = createStageBench([SANDBOX]);
    breakDown(bench, DEFAULT_STAGE_POLICY.triesMax);
    expect(bench.check()).toMatchObject({ state: 'HELD', lastFailure: 'ENGINE_UNAVAILABLE' });
    expect(bench.nextDue()?.toISOString()).toBe(bench.check().heldUntil);
    expect(bench.do({ kind: 'retry' })).toMatchObject({
      state: 'WAITING_SANDBOX',
      tries: 0,
      heldUntil: null,
    });
    expect(bench.run(VERIFIED).state).toBe('VERIFIED');
  });

  it('that nobody mends ends inconclusive, with a reason that is ours', () => {
    const bench = createStageBench([SANDBOX]);
    breakDown(bench, DEFAULT_STAGE_POLICY.triesMax);
    expect(bench.advance(DEFAULT_STAGE_POLICY.heldGraceMs - 1).state).toBe('HELD');
    expect(bench.advance(1)).toMatchObject({
      state: 'INCONCLUSIVE',
      results: [{ reason: 'ENGINE_UNAVAILABLE', decidedBy: { kind: 'nobody' } }],
    });
  });

  it('kills every worker that begins: what was lost counts, and the check is held', () => {
    const bench = createStageBench([SANDBOX]);
    for (let tries = 0; tries < DEFAULT_STAGE_POLICY.triesMax; tries += 1) {
      expect(bench.do({ kind: 'start' })).toMatchObject({ isRunning: true, tries });
    }
    const { attempt } = bench.check();
    expect(bench.do({ kind: 'start' })).toMatchObject({
      state: 'HELD',
      attempt,
      isRunning: false,
      lastFailure: 'WORKER_LOST',
    });
    expect(bench.nextDue()?.toISOString()).toBe(bench.check().heldUntil);
    bench.do({ kind: 'retry' });
    expect(bench.run(VERIFIED).state).toBe('VERIFIED');
  });

  it('of one stage does not count against the next', () => {
    const bench = createStageBench([SANDBOX, { ...SANDBOX, key: 'content' }]);
    breakDown(bench, DEFAULT_STAGE_POLICY.triesMax - 1);
    bench.run(VERIFIED);
    expect(bench.check()).toMatchObject({ tries: 0, lastFailure: null });
  });

  it('is the only thing that is tried again', () => {
    const bench = createStageBench([SANDBOX]);
    expect(bench.try({ kind: 'retry' })).toBe('CHECKER_CHECK_NOT_WAITING');
    bench.run(REFUTED);
    expect(bench.try({ kind: 'retry' })).toBe('CHECKER_CHECK_NOT_WAITING');
  });
});

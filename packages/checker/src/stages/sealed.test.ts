import { describe, expect, it } from 'vitest';
import type { ProblemCase } from './problem-case.ts';
import { mayRead, mayReadEntry, toVisibleCheck } from './sealed.ts';
import {
  at,
  BYTES,
  createStageBench,
  DAY_MS,
  MEASURED,
  newId,
  OWNER,
  SANDBOX,
  SCORED,
  SOLVER,
  STARTS_AT,
  toProblem,
  toProtocol,
  toReview,
  toSealing,
  VERIFIED,
} from './testing/stage-bench.ts';

const ANYBODY = newId('principal');
const RELEASE = 10 * DAY_MS;
const after = (ms: number) => new Date(STARTS_AT.getTime() + ms);
const person = (id: string) => ({ kind: 'person', id }) as const;

// Keeps R-SEALED-BYTES.
describe('sealed bytes', () => {
  it.each([SOLVER, ANYBODY])('are not read by a participant before their release: %#', (id) => {
    expect(mayRead(toProblem(), person(id), 'labels', after(RELEASE - 1))).toBe(false);
    expect(mayRead(toProblem(), person(id), 'labels', after(RELEASE))).toBe(true);
    const released = toProblem({ releasedAt: at(0) });
    expect(mayRead(released, person(id), 'labels', after(0))).toBe(true);
  });

  it('are read by the owner', () => {
    expect(mayRead(toProblem(), person(OWNER), 'labels', after(0))).toBe(true);
  });

  it('are read by the sandbox stages that select them, and by no other stage', () => {
    const readers = [SCORED, SANDBOX, toReview(toProtocol()), MEASURED].map((stage) =>
      mayRead(toProblem(), { kind: 'stage', stage }, 'labels', after(RELEASE + 1)),
    );
    expect(readers).toEqual([true, false, false, false]);
  });

  it('do not seal what is beside them', () => {
    expect(mayRead(toProblem(), person(ANYBODY), 'instance', after(0))).toBe(true);
  });

  it.each(['ghosts', 'toString', '__proto__'])('are not those of a slot called %s', (slot) => {
    expect(mayRead(toProblem(), person(OWNER), slot, after(0))).toBe(false);
  });

  it('are nobody else’s while the problem is a draft, nor is anything of it', () => {
    const draft = toProblem({ state: 'DRAFT' });
    expect(mayRead(draft, person(ANYBODY), 'instance', after(0))).toBe(false);
    expect(mayRead(draft, person(OWNER), 'instance', after(0))).toBe(true);
  });
});

// Keeps R-SEALED-ENTRIES.
describe('an entry', () => {
  const independent = toProblem({
    sealing: toSealing({ entries: 'independent', cutoff: at(5 * DAY_MS) }),
  });
  const mayReadAt = (problem: ProblemCase, id: string, ms: number) =>
    mayReadEntry(problem, { solverId: SOLVER }, id, after(ms));

  it('is seen by everybody where entries are shared', () => {
    expect(mayReadAt(toProblem(), ANYBODY, 0)).toBe(true);
    expect(mayReadAt(toProblem({ sealing: null }), ANYBODY, 0)).toBe(true);
  });

  it('is hidden from other participants until the cutoff where entries are independent', () => {
    expect(mayReadAt(independent, ANYBODY, 5 * DAY_MS - 1)).toBe(false);
    expect(mayReadAt(independent, ANYBODY, 5 * DAY_MS)).toBe(true);
    for (const id of [SOLVER, OWNER]) expect(mayReadAt(independent, id, 0)).toBe(true);
  });

  it('stays hidden where the sealed bytes are released before the cutoff', () => {
    expect(mayReadAt({ ...independent, releasedAt: at(0) }, ANYBODY, DAY_MS)).toBe(false);
  });
});

describe('a check of a sealed problem', () => {
  const check = (() => {
    const bench = createStageBench([SANDBOX, SCORED], { sealing: toSealing() });
    bench.run({ ...VERIFIED, reason: 'has the form' });
    return bench.run({ ...VERIFIED, score: 0.25, reason: 'row 3: cat', evidence: { rows: 4 } });
  })();
  const see = (problem: ProblemCase, id: string, ms: number) =>
    toVisibleCheck(problem, check, id, after(ms));
  const sealedUntilScores = toProblem({ sealing: toSealing({ score_release: at(DAY_MS) }) });

  it('tells the outcome of a stage that reads sealed bytes, and none of its words', () => {
    expect(see(toProblem(), SOLVER, 0)).toMatchObject({
      score: 0.25,
      results: [
        { message: 'has the form' },
        { outcome: 'verified', score: 0.25, message: null, evidence: null },
      ],
    });
  });

  it('tells no time from which the bytes could be told, nor when what follows them began', () => {
    const [before, sealed] = see(toProblem(), SOLVER, 0).results;
    expect(before).toMatchObject({ startedAt: at(0), decidedAt: at(0) });
    expect(sealed).toMatchObject({ startedAt: null, decidedAt: null });
    const bench = createStageBench([SCORED, SANDBOX], { sealing: toSealing() });
    bench.run({ ...VERIFIED, score: 1 });
    bench.advance(DAY_MS);
    const both = bench.run(VERIFIED);
    const visible = toVisibleCheck(toProblem(), both, SOLVER, after(0));
    expect(visible).toMatchObject({
      endedAt: null,
      isWhole: false,
      results: [{ decidedAt: null }, { startedAt: null, decidedAt: null }],
    });
  });

  it('tells nothing of why such a stage did not verify: the outcome is all', () => {
    const bench = createStageBench([SCORED], { sealing: toSealing() });
    const refuted = bench.run({ kind: 'refuted', reason: 'row 3', score: null, evidence: null });
    expect(refuted.results).toMatchObject([{ outcome: 'refuted', reason: 'REFUTED' }]);
    expect(toVisibleCheck(toProblem(), refuted, SOLVER, after(0)).results).toMatchObject([
      { outcome: 'refuted', reason: null, mechanism: null, message: null },
    ]);
  });

  it('tells all once the bytes are released', () => {
    const whole = { ...check, isWhole: true };
    expect(see(toProblem(), SOLVER, RELEASE)).toEqual(whole);
    expect(see(toProblem({ releasedAt: at(0) }), SOLVER, 0)).toEqual(whole);
  });

  it('withholds the score until it is released, apart from the bytes', () => {
    const withheld = see(sealedUntilScores, SOLVER, DAY_MS - 1);
    expect(withheld).toMatchObject({ score: null, results: [{}, { score: null }] });
    const released = { ...sealedUntilScores, releasedAt: at(0) };
    expect(see(released, SOLVER, DAY_MS - 1)).toMatchObject({
      score: null,
      results: [{ message: 'has the form' }, { score: null, message: null, evidence: null }],
    });
    expect(see(sealedUntilScores, SOLVER, DAY_MS)).toMatchObject({ score: 0.25 });
  });

  it('tells its owner all', () => {
    expect(see(sealedUntilScores, OWNER, 0)).toEqual({ ...check, isWhole: true });
  });

  it('withholds no word where the sealed slot is bound to nothing', () => {
    const unbound = toProblem({ sealing: null, bindings: { instance: BYTES } });
    expect(see(unbound, SOLVER, 0)).toEqual({ ...check, isWhole: true });
  });
});

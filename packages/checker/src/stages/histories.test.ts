import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CheckCaseSchema, type CheckStage, JUDGMENTS } from './check-case.ts';
import { decideCheck } from './decide-check.ts';
import { moves, PEOPLE, type Move, stagePlans, toCommand } from './testing/histories.ts';
import {
  createStageBench,
  DAY_MS,
  OWNER,
  SOLVER,
  toProtocol,
  toReview,
  VERIFIED,
} from './testing/stage-bench.ts';

function play(stages: readonly CheckStage[], history: readonly Move[]) {
  const bench = createStageBench(stages);
  for (const move of history) {
    bench.elapse(move.elapseMs);
    bench.try(toCommand(bench.check(), move));
  }
  return bench;
}

// Keeps R-CHECK-EXIT, R-REVIEW-PARTIES.
describe('any history of a check', () => {
  it('comes to an end by time alone, once workers have done what is theirs', () => {
    fc.assert(
      fc.property(stagePlans, moves, (stages, history) => {
        const bench = play(stages, history);
        for (let left = 2 * stages.length; left > 0 && bench.check().endedAt === null; left -= 1) {
          if (bench.check().state === 'WAITING_SANDBOX') bench.run(VERIFIED);
          const due = bench.nextDue();
          if (due !== null) bench.advance(Math.max(0, due.getTime() - bench.now().getTime()));
          // An expiry of a seat may come before the end of the review.
          if (bench.check().state === 'WAITING_REVIEW') bench.advance(DAY_MS);
        }
        expect(bench.check().endedAt).not.toBeNull();
      }),
    );
  });

  it('goes on to a stage only after all before it are verified', () => {
    fc.assert(
      fc.property(stagePlans, moves, (stages, history) => {
        const { state, results, endedAt } = play(stages, history).check();
        expect(results.map(({ stage }) => stage)).toEqual(
          stages.slice(0, results.length).map(({ key }) => key),
        );
        const before = endedAt === null ? results : results.slice(0, -1);
        expect(before.every(({ outcome }) => outcome === 'verified')).toBe(true);
        const isAll = results.length === stages.length && results.at(-1)?.outcome === 'verified';
        expect(state === 'VERIFIED').toBe(isAll);
      }),
    );
  });

  it('gives a verified stage no reason, any other one, and a score to verified score stages alone', () => {
    fc.assert(
      fc.property(stagePlans, moves, (stages, history) => {
        const { results, score, state } = play(stages, history).check();
        for (const { outcome, reason } of results)
          expect(reason === null).toBe(outcome === 'verified');
        const scores = results.flatMap((each, index) => {
          const stage = stages[index];
          return stage?.kind === 'sandbox' && stage.resultKind === 'score' ? [each.score] : [];
        });
        expect(score).toBe(state === 'VERIFIED' ? (scores.at(-1) ?? null) : null);
      }),
    );
  });

  it('has no party in a seat, nor anybody twice, nor more than there are', () => {
    fc.assert(
      fc.property(stagePlans, moves, (stages, history) => {
        const { review, results } = play(stages, history).check();
        for (const seats of [review?.seats ?? [], ...results.map((each) => each.seats)]) {
          const holders = seats.map(({ node, judgeId }) => `${node} ${judgeId}`);
          expect(new Set(holders).size).toBe(holders.length);
          expect(seats.length).toBeLessThanOrEqual(6);
          for (const { judgeId } of seats) expect([OWNER, SOLVER]).not.toContain(judgeId);
        }
      }),
    );
  });

  it('advances exactly when something is due, and not a second time', () => {
    fc.assert(
      fc.property(stagePlans, moves, (stages, history) => {
        const bench = play(stages, history);
        bench.do({ kind: 'advance' });
        const due = bench.nextDue();
        fc.pre(due !== null);
        const advance = (now: Date) =>
          decideCheck(bench.check(), { kind: 'advance' }, { ...bench.context(), now });
        const early = advance(new Date(due.getTime() - 1));
        expect(early).toMatchObject({ kind: 'accepted', next: bench.check(), effects: [] });
        bench.advance(due.getTime() - bench.now().getTime());
        const next = bench.nextDue();
        expect(next === null || next > due).toBe(true);
      }),
    );
  });

  it('stays a plain JSON value of its schema, and no decision changes what it was given', () => {
    fc.assert(
      fc.property(stagePlans, moves, (stages, history) => {
        const bench = play(stages, history);
        const check = bench.check();
        expect(CheckCaseSchema.parse(JSON.parse(JSON.stringify(check)))).toEqual(check);
        const copy = structuredClone(check);
        for (const move of history) decideCheck(check, toCommand(check, move), bench.context());
        expect(check).toEqual(copy);
      }),
      { numRuns: 30 },
    );
  });
});

// Keeps R-REVIEW-ORDER.
describe('independent judgments', () => {
  it('end a check in the same way, whoever of the judges comes first', () => {
    const ballots = fc.tuple(
      ...PEOPLE.slice(0, 3).map((judge) =>
        fc.record({ judge: fc.constant(judge), judgment: fc.constantFrom(...JUDGMENTS) }),
      ),
    );
    const orders = ballots.chain((ballot) =>
      fc.tuple(fc.constant(ballot), fc.shuffledSubarray(ballot, { minLength: ballot.length })),
    );
    fc.assert(
      fc.property(orders, (both) => {
        const [state, other] = both.map((ballot) => {
          const bench = createStageBench([toReview(toProtocol())]);
          const claimed = ballot.map((each) => ({ ...each, seatId: bench.claim(each.judge) }));
          for (const each of claimed) bench.try({ kind: 'judge', ...each, statement: 'so' });
          return bench.check().state;
        });
        expect(other).toBe(state);
      }),
    );
  });
});

import * as fc from 'fast-check';
import { BROKEN_CODES, type StageEnd } from '../../run/stage-end.ts';
import { type CheckCase, type CheckStage, JUDGMENTS, STAGE_OUTCOMES } from '../check-case.ts';
import type { CheckCommand } from '../check-command.ts';
import {
  DAY_MS,
  HOUR_MS,
  JUDGES,
  MEASURED,
  newId,
  OWNER,
  PARTNER,
  PROGRAM,
  SANDBOX,
  SCORED,
  SOLVER,
  toJudge,
  toProtocol,
  toReview,
  TWO_OF_THREE,
} from './stage-bench.ts';

/** Something that somebody might do, and the time that passes before. Numbers choose among what is there. */
export interface Move {
  readonly kind: CheckCommand['kind'];
  readonly elapseMs: number;
  readonly pick: number;
  readonly who: number;
}

/** Mostly who may judge; among them who may not. */
export const PEOPLE = [...JUDGES, toJudge(OWNER), toJudge(SOLVER)];

export const stagePlans: fc.Arbitrary<readonly CheckStage[]> = fc
  .array(
    fc.constantFrom(
      SANDBOX,
      SCORED,
      toReview(toProtocol()),
      toReview(
        toProtocol([
          { key: 'all', reducer: { kind: 'coalesce', nodes: ['readers', 'experts'] } },
          TWO_OF_THREE,
          {
            key: 'experts',
            reducer: {
              kind: 'threshold',
              seats: 3,
              accept_percent: 60,
              reject_percent: 50,
              minimum: 2,
            },
          },
        ]),
      ),
      toReview(null),
      MEASURED,
      PARTNER,
    ),
    { minLength: 1, maxLength: 4 },
  )
  .map((stages) => stages.map((stage, index) => ({ ...stage, key: `stage_${index}` })));

export const moves: fc.Arbitrary<readonly Move[]> = fc.array(
  fc.record({
    kind: fc.constantFrom<CheckCommand['kind'][]>(
      ...(['start', 'seal', 'seal', 'fail', 'fail', 'release', 'unavailable', 'retry'] as const),
      ...(['claim', 'claim', 'claim', 'judge', 'judge', 'judge', 'release_seat'] as const),
      ...(['report', 'report', 'advance'] as const),
    ),
    elapseMs: fc.constantFrom(0, 1, 1_000, HOUR_MS - 1, HOUR_MS, DAY_MS),
    pick: fc.nat(1_000),
    who: fc.nat(PEOPLE.length - 1),
  }),
  { maxLength: 40 },
);

const ENDS: readonly StageEnd[] = [
  { kind: 'verified', reason: null, score: 1, evidence: { n: 1 } },
  { kind: 'verified', reason: null, score: 2, evidence: null },
  { kind: 'refuted', reason: 'no', score: null, evidence: null },
  { kind: 'inconclusive', reason: null, score: null, evidence: null },
  { kind: 'unmet', message: 'no artifact' },
  { kind: 'broken', code: BROKEN_CODES[0], message: 'exit 1' },
];

/** What a move asks of a check as it is. */
export function toCommand(check: CheckCase, { kind, pick, who }: Move): CheckCommand {
  const judge = PEOPLE[who] ?? toJudge(SOLVER);
  const stage = check.stages[check.results.length];
  const attempt = check.attempt - (pick % 5 === 0 ? 1 : 0);
  const seats = check.review?.seats ?? [];
  const seatId = seats[pick % Math.max(seats.length, 1)]?.id ?? newId('seat');
  const holder = PEOPLE.find(({ id }) =>
    seats.some((each) => each.id === seatId && each.judgeId === id),
  );
  switch (kind) {
    case 'seal':
      return {
        kind,
        attempt,
        end: ENDS[pick % ENDS.length] ?? { kind: 'unmet', message: '' },
        program: PROGRAM,
      };
    case 'fail':
      return { kind, attempt, reason: 'ENGINE_UNAVAILABLE' };
    case 'release':
      return { kind, attempt };
    case 'unavailable':
      return { kind, attempt, mechanism: 'an implementation' };
    case 'claim':
      return { kind, seatId: newId('seat'), node: pick % 2 === 0 ? 'readers' : 'experts', judge };
    case 'release_seat':
      return { kind, seatId, judgeId: holder?.id ?? judge.id };
    case 'judge':
      return {
        kind,
        seatId,
        judge: pick % 4 === 0 ? judge : (holder ?? judge),
        judgment: JUDGMENTS[pick % 3] ?? 'accept',
        statement: 'so',
      };
    case 'report':
      return {
        kind,
        stage: stage?.key ?? '',
        report: {
          result: STAGE_OUTCOMES[pick % 3] ?? null,
          statement: null,
          evidence: { phase: { fraction: (pick % 10) / 10 } },
        },
        reporter:
          stage?.kind === 'external' && pick % 2 === 0
            ? { kind: 'signature', system: stage.system, key: 'f'.repeat(64) }
            : { kind: 'operator', id: judge.id, invitedBy: judge.invitedBy },
        evidenceProblem: pick % 7 === 0 ? 'no' : null,
      };
    case 'start':
    case 'retry':
    case 'advance':
      return { kind };
  }
}

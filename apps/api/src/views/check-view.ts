import {
  CHECK_STATES,
  type CheckCase,
  JUDGMENTS,
  type Seat,
  STAGE_OUTCOMES,
  toVisibleCheck,
  type VisibleCheck,
  type VisibleResult,
} from '@kervyxa/checker';
import { ReasonCodeSchema } from '@kervyxa/core';
import type { CheckRow, ProblemRow } from '@kervyxa/db';
import { z } from 'zod';
import type { ProblemSight } from '../auth/problem-access.ts';
import {
  CheckIdField,
  EntryIdField,
  KeyField,
  PrincipalIdField,
  ProblemIdField,
  SeatIdField,
  TimeField,
} from './fields.ts';

const STAGE_KINDS = ['sandbox', 'review', 'external'] as const;
const AnyJson = z.unknown().describe('Any JSON value.');

export const SeatView = z.strictObject({
  id: SeatIdField,
  checkId: CheckIdField,
  node: KeyField,
  claimedAt: TimeField,
  expiresAt: TimeField.describe('Goes back then, if nothing is judged.'),
  judgment: z.enum(JUDGMENTS).nullable(),
});

const StageResultView = z.strictObject({
  stage: KeyField,
  kind: z.enum(STAGE_KINDS),
  outcome: z.enum(STAGE_OUTCOMES),
  reason: ReasonCodeSchema.nullable().describe('Null where it is verified, or withheld.'),
  message: z.string().nullable(),
  mechanism: z.string().nullable().describe('What was not there to decide, where that is why.'),
  score: z.number().nullable(),
  evidence: AnyJson,
  finding: z.string().nullable().describe('What a system outside thinks; it decides nothing.'),
  decidedBy: z.looseObject({ kind: z.string() }),
  judgments: z.array(
    z.strictObject({
      node: KeyField,
      judgeId: PrincipalIdField.nullable().describe('To the owner, the operator and the judge.'),
      judgment: z.enum(JUDGMENTS),
      statement: z.string(),
      at: TimeField,
    }),
  ),
  startedAt: TimeField.nullable().describe('Null where it could tell of sealed bytes.'),
  decidedAt: TimeField.nullable().describe('The same.'),
});

export const CheckView = z.strictObject({
  id: CheckIdField,
  problemId: ProblemIdField,
  entryId: EntryIdField,
  solverId: PrincipalIdField,
  state: z.enum(CHECK_STATES),
  stages: z.array(z.strictObject({ key: KeyField, kind: z.enum(STAGE_KINDS) })),
  results: z.array(StageResultView),
  score: z.number().nullable().describe('Null too where it is withheld until score_release.'),
  review: z
    .strictObject({
      protocolId: z.string(),
      opensAt: TimeField,
      closesAt: TimeField,
      seats: z.array(SeatView).describe("The caller's own."),
    })
    .nullable(),
  reportBy: TimeField.nullable(),
  openedAt: TimeField,
  endedAt: TimeField.nullable().describe('Null too where it could tell of sealed bytes.'),
});

export const CheckDetail = CheckView.extend({
  evaluation: AnyJson.describe('operator-task-verifier-evaluation.v1; null until it is written.'),
  attestation: AnyJson.describe('A DSSE envelope; null until it is written.'),
});

export function toCheckView(
  { facts }: Pick<CheckRow, 'facts'>,
  problem: Pick<ProblemRow, 'facts'>,
  sight: ProblemSight,
  now: Date,
): z.infer<typeof CheckView> {
  const visible = toVisibleCheck(problem.facts, facts, viewerOf(sight, problem), now);
  return {
    id: visible.id,
    problemId: visible.problemId,
    entryId: visible.entryId,
    solverId: visible.solverId,
    state: visible.state,
    stages: visible.stages.map(({ key, kind }) => ({ key, kind })),
    results: visible.results.map((result) => toResultView(result, sight)),
    score: visible.score,
    review: toReviewView(visible, sight),
    reportBy: visible.reportBy,
    openedAt: visible.openedAt,
    endedAt: visible.endedAt,
  };
}

/** Record and envelope are over all that there is, so they are for those from whom nothing is withheld. */
export function toCheckDetail(
  row: CheckRow,
  problem: Pick<ProblemRow, 'facts'>,
  sight: ProblemSight,
  now: Date,
): z.infer<typeof CheckDetail> {
  const visible = toVisibleCheck(problem.facts, row.facts, viewerOf(sight, problem), now);
  const read = (text: string | null): unknown =>
    text === null || !visible.isWhole ? null : JSON.parse(text);
  return {
    ...toCheckView(row, problem, sight, now),
    evaluation: read(row.evaluation),
    attestation: read(row.attestation),
  };
}

export function toSeatView(check: Pick<CheckCase, 'id'>, seat: Seat): z.infer<typeof SeatView> {
  const { id, node, claimedAt, expiresAt, judged } = seat;
  return {
    id,
    checkId: check.id,
    node,
    claimedAt,
    expiresAt,
    judgment: judged?.judgment ?? null,
  };
}

function viewerOf({ viewerId, seesAll }: ProblemSight, problem: Pick<ProblemRow, 'facts'>): string {
  return seesAll ? problem.facts.ownerId : viewerId;
}

function toResultView(
  { seats, broken: _broken, ...result }: VisibleResult,
  { viewerId, seesAll }: ProblemSight,
): z.infer<typeof StageResultView> {
  return {
    ...result,
    evidence: result.evidence ?? null,
    decidedBy: { ...result.decidedBy },
    judgments: seats.flatMap(({ node, judgeId, judged }) =>
      judged === null
        ? []
        : [{ node, judgeId: seesAll || judgeId === viewerId ? judgeId : null, ...judged }],
    ),
  };
}

/** What others have judged is told at the end: each is to judge alone. */
function toReviewView(check: VisibleCheck, { viewerId }: ProblemSight) {
  const stage = check.stages[check.results.length];
  if (check.review === null || stage?.kind !== 'review') return null;
  const { opensAt, closesAt, seats } = check.review;
  const own = seats.filter(({ judgeId }) => judgeId === viewerId);
  return {
    protocolId: stage.protocolId,
    opensAt,
    closesAt,
    seats: own.map((seat) => toSeatView(check, seat)),
  };
}

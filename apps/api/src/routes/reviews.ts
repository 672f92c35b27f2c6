import { claimableNode, DEFAULT_STAGE_POLICY, type Judge, JUDGMENTS } from '@kervyxa/checker';
import type { CheckRow, PrincipalRow, ProblemRow } from '@kervyxa/db';
import { z } from 'zod';
import { principalOf } from '../auth/authenticate.ts';
import { problemSightOf, seesEntry } from '../auth/problem-access.ts';
import type { Api, ApiContext } from '../context.ts';
import { answerWith, callOf } from '../http/answers.ts';
import { PROBLEM_ANSWER } from '../http/openapi.ts';
import { PageQuery, pageOf, pageViewOf } from '../http/pages.ts';
import { CheckView, SeatView, toCheckView, toSeatView } from '../views/check-view.ts';
import {
  CheckIdField,
  EntryIdField,
  KeyField,
  NoBody,
  ProblemIdField,
  SeatIdField,
  TimeField,
  textFieldOf,
} from '../views/fields.ts';
import { seenCheck } from './checks.ts';

const TAGS = ['reviews'];
const STATEMENT_LENGTH_MAX = 10_000;
/** Pages that are read for one of an answer's: any key may ask. */
const LOOKS_MAX = 3;
const CheckParams = z.strictObject({ id: CheckIdField });
const SeatParams = CheckParams.extend({ seatId: SeatIdField });
const ReviewView = z.strictObject({
  checkId: CheckIdField,
  problemId: ProblemIdField,
  entryId: EntryIdField,
  protocolId: z.string(),
  node: KeyField.describe('Of which the caller may claim a seat.'),
  closesAt: TimeField,
});

export function registerReviews(app: Api, context: ApiContext): void {
  const { database, newId } = context;
  const { commands, reads } = database.checkers;

  app.get(
    '/v1/reviews',
    {
      config: { access: 'any_key' },
      schema: {
        tags: TAGS,
        summary: 'Reviews in which the caller may claim a seat, newest first',
        querystring: PageQuery,
        response: { 200: pageViewOf(ReviewView), default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => {
      const { limit, after } = pageOf(request.query);
      return reply.send(await listClaimable(principalOf(request), limit, after));
    },
  );

  app.post(
    '/v1/checks/:id/seats',
    {
      config: { access: 'any_key' },
      schema: {
        tags: TAGS,
        summary: 'Claims a seat of a review; it goes back when nothing is judged in time',
        params: CheckParams,
        body: z.strictObject({ node: KeyField }),
        response: { 201: SeatView, default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => {
      const { id: checkId } = request.params;
      await seenCheck(context, request, checkId);
      const seatId = newId('seat');
      const judge = toJudge(principalOf(request));
      const command = { kind: 'claim', seatId, node: request.body.node, judge } as const;
      return answerWith(
        reply,
        (keep) =>
          commands.decideCheck(callOf(request, request.body), { checkId, command }, ({ facts }) => {
            const seat = facts.review?.seats.find(({ id }) => id === seatId);
            if (seat === undefined) throw new TypeError('expected the seat in its own check');
            return keep(201, toSeatView(facts, seat));
          }),
        () => `/v1/checks/${checkId}`,
      );
    },
  );

  app.post(
    '/v1/checks/:id/seats/:seatId/release',
    {
      config: { access: 'any_key' },
      schema: {
        tags: TAGS,
        summary: 'Gives a claimed seat back',
        params: SeatParams,
        body: NoBody,
        response: { 200: CheckView, default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => {
      const { id: checkId, seatId } = request.params;
      const { row, sight, now } = await seenCheck(context, request, checkId);
      const command = { kind: 'release_seat', seatId, judgeId: sight.viewerId } as const;
      return answerWith(reply, (keep) =>
        commands.decideCheck(callOf(request, null), { checkId, command }, (check) =>
          keep(200, toCheckView(check, row, sight, now)),
        ),
      );
    },
  );

  app.post(
    '/v1/checks/:id/seats/:seatId/judgment',
    {
      config: { access: 'any_key' },
      schema: {
        tags: TAGS,
        summary: 'Judges from a claimed seat, once and for good',
        params: SeatParams,
        body: z.strictObject({
          judgment: z.enum(JUDGMENTS),
          statement: textFieldOf(STATEMENT_LENGTH_MAX),
        }),
        response: { 200: CheckView, default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => {
      const { id: checkId, seatId } = request.params;
      const { row, sight, now } = await seenCheck(context, request, checkId);
      const judge = toJudge(principalOf(request));
      const command = { kind: 'judge', seatId, judge, ...request.body } as const;
      return answerWith(reply, (keep) =>
        commands.decideCheck(callOf(request, request.body), { checkId, command }, (check) =>
          keep(200, toCheckView(check, row, sight, now)),
        ),
      );
    },
  );

  /** Fills a page from what comes after it, as far as may be looked: gaps tell of reviews that one may not know of. */
  async function listClaimable(viewer: PrincipalRow, limit: number, after: string | null) {
    const filter = { states: ['WAITING_REVIEW'], problemId: null, notOf: viewer.id } as const;
    const items: z.infer<typeof ReviewView>[] = [];
    const now = await reads.now();
    let next = after;
    for (let looked = 0; looked < LOOKS_MAX; looked += 1) {
      const page = await reads.listChecks(filter, { limit: limit - items.length, after: next });
      const problems = await problemsOf(page.items, viewer);
      const found = page.items.map((check) =>
        toReview(check, problems.get(check.facts.problemId), viewer, now),
      );
      items.push(...found.filter((item) => item !== null));
      next = page.next;
      if (next === null || items.length === limit) break;
    }
    return { items, next };
  }

  /** With as many of their participants as it takes to say who may judge. */
  async function problemsOf(
    checks: readonly CheckRow[],
    viewer: PrincipalRow,
  ): Promise<ReadonlyMap<string, ProblemRow>> {
    const ids = new Set(checks.map(({ facts }) => facts.problemId));
    const participants = new Set([viewer.id, ...checks.map(({ facts }) => facts.solverId)]);
    const rows = await reads.problemsFor([...ids], [...participants]);
    return new Map(rows.map((row) => [row.id, row]));
  }
}

/** Null where the viewer may claim no seat, or may not even know of the check. */
function toReview(
  { facts }: CheckRow,
  problem: ProblemRow | undefined,
  viewer: PrincipalRow,
  now: Date,
): z.infer<typeof ReviewView> | null {
  const sight = problem === undefined ? null : problemSightOf(viewer, problem.facts);
  const stage = facts.stages[facts.results.length];
  if (problem === undefined || sight === null || stage?.kind !== 'review') return null;
  if (!seesEntry(sight, problem.facts, facts, now) || facts.review === null) return null;
  const deciding = { now, policy: DEFAULT_STAGE_POLICY, problem: problem.facts };
  const node = claimableNode(facts, toJudge(viewer), deciding);
  if (node === null) return null;
  const { id: checkId, problemId, entryId } = facts;
  const { closesAt } = facts.review;
  return { checkId, problemId, entryId, protocolId: stage.protocolId, node: node.key, closesAt };
}

function toJudge({ id, roles, invitedById }: PrincipalRow): Judge {
  return { id, roles, invitedBy: invitedById };
}

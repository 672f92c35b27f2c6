import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { CheckRow, PageRequest } from '@kervyxa/db';
import { seesEntry } from '../auth/problem-access.ts';
import type { Api, ApiContext } from '../context.ts';
import { notFound } from '../errors.ts';
import { answerWith, callOf } from '../http/answers.ts';
import { PROBLEM_ANSWER } from '../http/openapi.ts';
import { PageQuery, pageOf, pageViewOf } from '../http/pages.ts';
import { CheckDetail, CheckView, toCheckDetail, toCheckView } from '../views/check-view.ts';
import { CheckIdField, NoBody, ProblemIdField } from '../views/fields.ts';
import { seenProblem, type SeenProblem } from './seen-problem.ts';

const TAGS = ['checks'];
const CheckParams = z.strictObject({ id: CheckIdField });

export interface SeenCheck extends SeenProblem {
  readonly check: CheckRow;
}

/** The check, where the viewer may see it: whoever sees the entry does. Throws API_NOT_FOUND. */
export async function seenCheck(
  context: ApiContext,
  request: FastifyRequest,
  id: string,
  what = 'check',
): Promise<SeenCheck> {
  const check = await context.database.checkers.reads.check(id);
  if (check === null) throw notFound(what);
  const seen = await seenProblem(context, request, check.facts.problemId, what);
  if (!seesEntry(seen.sight, seen.row.facts, check.facts, seen.now)) throw notFound(what);
  return { ...seen, check };
}

export function registerChecks(app: Api, context: ApiContext): void {
  const { commands, reads } = context.database.checkers;

  app.get(
    '/v1/checks/:id',
    {
      config: { access: 'any_key' },
      schema: {
        tags: TAGS,
        summary: 'One check: what each stage said of an entry, and what it waits for',
        params: CheckParams,
        response: { 200: CheckDetail, default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => {
      const { check, row, sight, now } = await seenCheck(context, request, request.params.id);
      return reply.send(toCheckDetail(check, row, sight, now));
    },
  );

  app.get(
    '/v1/problems/:id/checks',
    {
      config: { access: 'any_key' },
      schema: {
        tags: TAGS,
        summary: 'The checks of the entries that the caller may see, newest first',
        params: z.strictObject({ id: ProblemIdField }),
        querystring: PageQuery,
        response: { 200: pageViewOf(CheckView), default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => {
      const { row, sight, now } = await seenProblem(context, request, request.params.id);
      const asked = pageOf(request.query);
      const isHidden = !seesEntry(sight, row.facts, { solverId: '' }, now);
      const page = isHidden
        ? await listOwn(row.id, sight.viewerId, asked)
        : await reads.listChecks({ states: null, problemId: row.id, notOf: null }, asked);
      return reply.send({
        items: page.items.map((check) => toCheckView(check, row, sight, now)),
        next: page.next,
      });
    },
  );

  app.post(
    '/v1/checks/:id/retry',
    {
      config: { access: ['operator'] },
      schema: {
        tags: TAGS,
        summary: 'Has a check tried again that our own trouble holds up',
        params: CheckParams,
        body: NoBody,
        response: { 202: CheckView, default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => {
      const { row, sight, now } = await seenCheck(context, request, request.params.id);
      return answerWith(reply, (keep) =>
        commands.decideCheck(
          callOf(request, null),
          { checkId: request.params.id, command: { kind: 'retry' } },
          (check) => keep(202, toCheckView(check, row, sight, now)),
        ),
      );
    },
  );

  /** Of a page of all a stranger would learn how many there are. */
  async function listOwn(problemId: string, solverId: string, asked: PageRequest) {
    const entries = await reads.listEntries({ problemId, solverId }, asked);
    const checks = await Promise.all(entries.items.map(({ checkId }) => reads.check(checkId)));
    return { items: checks.filter((check) => check !== null), next: entries.next };
  }
}

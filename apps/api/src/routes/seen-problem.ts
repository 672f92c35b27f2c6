import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AskedOfProblem, ProblemRow } from '@kervyxa/db';
import { principalOf } from '../auth/authenticate.ts';
import { problemSightOf, type ProblemSight } from '../auth/problem-access.ts';
import type { ApiContext } from '../context.ts';
import { createApiError, notFound } from '../errors.ts';
import { answerWith, callOf } from '../http/answers.ts';
import { toProblemDetail } from '../views/problem-view.ts';

export interface SeenProblem {
  readonly row: ProblemRow;
  readonly sight: ProblemSight;
  readonly now: Date;
}

/** The problem, where the viewer may see it. Throws API_NOT_FOUND. */
export async function seenProblem(
  { database }: ApiContext,
  request: FastifyRequest,
  id: string,
  what = 'problem',
): Promise<SeenProblem> {
  const { reads } = database.checkers;
  const now = await reads.now();
  const row = await reads.problem(id);
  const sight = row === null ? null : problemSightOf(principalOf(request), row.facts);
  if (row === null || sight === null) throw notFound(what);
  return { row, sight, now };
}

/** Throws API_NOT_FOUND, and API_NOT_OWNER where the viewer sees the problem and yet may not act on it. */
export async function ownProblem(
  context: ApiContext,
  request: FastifyRequest,
  id: string,
): Promise<SeenProblem> {
  const seen = await seenProblem(context, request, id);
  if (seen.sight.seesAll) return seen;
  throw createApiError('API_NOT_OWNER', {
    message: 'expected the owner of the problem, got somebody else',
    fix: 'use the key of its owner',
  });
}

/** Does what the caller wants of a problem that it sees, and answers with the problem. */
export async function decideSeen(
  { database }: ApiContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { row: { id: problemId }, sight, now }: SeenProblem,
  command: AskedOfProblem,
): Promise<FastifyReply> {
  const call = callOf(request, request.body);
  return answerWith(reply, (keep) =>
    database.checkers.commands.decideProblem(call, { problemId, command }, (row) =>
      keep(200, toProblemDetail(row, sight, now)),
    ),
  );
}

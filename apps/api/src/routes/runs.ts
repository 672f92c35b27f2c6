import type { RunRow, SubmissionRow } from '@kervyxa/db';
import { z } from 'zod';
import { seesHidden, seesRuns, type Sight } from '../auth/access.ts';
import { principalOf } from '../auth/authenticate.ts';
import type { Api, ApiContext } from '../context.ts';
import { notFound } from '../errors.ts';
import { PROBLEM_ANSWER, textAnswer } from '../http/openapi.ts';
import { RunIdField } from '../views/fields.ts';
import { RunView, toRunView } from '../views/run-view.ts';
import type { PrincipalRow } from '@kervyxa/db';

const TAGS = ['runs'];
const RunParams = z.strictObject({ id: RunIdField });
const LogParams = RunParams.extend({
  criterionId: z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, 'expected the id of a criterion'),
});

export interface SeenRun {
  readonly run: RunRow;
  readonly submission: SubmissionRow;
  readonly sight: Sight;
}

/** The run, where the viewer may see it. Throws API_NOT_FOUND. */
export async function seenRun(
  { database, sights }: ApiContext,
  viewer: PrincipalRow,
  runId: string,
): Promise<SeenRun> {
  const run = await database.reads.run(runId);
  const submission = run === null ? null : await database.reads.submission(run.submissionId);
  if (run === null || submission === null) throw notFound('run');
  const sight = await sights.ofContract(viewer, run.contractId, 'run');
  if (!seesRuns(sight, submission)) throw notFound('run');
  return { run, submission, sight };
}

export function registerRuns(app: Api, context: ApiContext): void {
  app.get(
    '/v1/runs/:id',
    {
      config: { access: 'any_key' },
      schema: {
        tags: TAGS,
        summary: 'One run, with its result; of hidden criteria only status and reason to solvers',
        params: RunParams,
        response: { 200: RunView, default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => {
      const { run, submission, sight } = await seenRun(
        context,
        principalOf(request),
        request.params.id,
      );
      return reply.send(toRunView(run, submission, sight));
    },
  );

  app.get(
    '/v1/runs/:id/logs/:criterionId',
    {
      config: { access: 'any_key' },
      schema: {
        tags: TAGS,
        summary: 'What the command of a criterion printed, as it came',
        params: LogParams,
        response: {
          200: textAnswer('text/plain', 'Bytes of code that nobody trusts: show them escaped.'),
          default: PROBLEM_ANSWER,
        },
      },
    },
    async (request, reply) => {
      const { run, sight } = await seenRun(context, principalOf(request), request.params.id);
      const log = await context.database.reads.log(run.id, request.params.criterionId);
      if (log === null) throw notFound('log');
      if (log.visibility !== 'public' && !seesHidden(sight)) throw notFound('log');
      return (
        reply
          .header('x-kervyxa-truncated', String(log.truncated))
          .type('text/plain; charset=utf-8')
          // A browser that is led here keeps it as a file: its bytes are the evidence, so nothing in them is escaped.
          .header('content-disposition', 'attachment; filename="log.txt"')
          .send(Buffer.from(log.bytes))
      );
    },
  );
}

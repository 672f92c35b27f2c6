import { prepareRelease, sealedBlobsOf } from '@kervyxa/checker';
import { z } from 'zod';
import { principalOf } from '../auth/authenticate.ts';
import type { Api, ApiContext } from '../context.ts';
import { PROBLEM_ANSWER } from '../http/openapi.ts';
import { KeyField, ProblemIdField } from '../views/fields.ts';
import { ProblemDetail } from '../views/problem-view.ts';
import { decideSeen, ownProblem } from './seen-problem.ts';

const TAGS = ['problems'];
const FINGERPRINT = /^sha256:[0-9a-f]{64}$/;
const ProblemParams = z.strictObject({ id: ProblemIdField });
const ReleaseView = z.strictObject({
  fingerprint: z.string().describe('Of exactly this: what has changed since has another one.'),
  problemId: ProblemIdField,
  slots: z.array(z.strictObject({ slot: KeyField, binding: z.looseObject({}) })),
  alsoBoundBy: z
    .array(ProblemIdField)
    .describe('Other problems of the owner with the same sealed bytes, which are so no longer.'),
});

export function registerReleases(app: Api, context: ApiContext): void {
  const { reads } = context.database.checkers;

  app.get(
    '/v1/problems/:id/release',
    {
      config: { access: ['requester', 'operator'] },
      schema: {
        tags: TAGS,
        summary: 'Prepares an early release: what exactly it would open, and its fingerprint',
        params: ProblemParams,
        response: { 200: ReleaseView, default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => {
      const { row } = await ownProblem(context, request, request.params.id);
      const alsoBoundBy = await reads.problemsThatBind(row.id, sealedBlobsOf(row.facts));
      const release = prepareRelease(row.facts, alsoBoundBy);
      return reply.send({
        ...release,
        slots: release.slots.map(({ slot, binding }) => ({ slot, binding: { ...binding } })),
        alsoBoundBy: [...release.alsoBoundBy],
      });
    },
  );

  app.post(
    '/v1/problems/:id/release',
    {
      config: { access: ['requester', 'operator'] },
      schema: {
        tags: TAGS,
        summary: 'Releases sealed bytes early and for good, as they were prepared',
        params: ProblemParams,
        body: z.strictObject({ fingerprint: z.string().regex(FINGERPRINT) }),
        response: { 200: ProblemDetail, default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => {
      const seen = await ownProblem(context, request, request.params.id);
      const { fingerprint } = request.body;
      return decideSeen(context, request, reply, seen, {
        kind: 'release',
        actorId: principalOf(request).id,
        fingerprint,
      });
    },
  );
}

import { repositoryUrlProblem } from '@kervyxa/contract';
import { CommitShaSchema } from '@kervyxa/core';
import { SUBMISSION_STATES } from '@kervyxa/settlement';
import { z } from 'zod';
import { principalOf } from '../auth/authenticate.ts';
import type { Api, ApiContext } from '../context.ts';
import { createApiError, notFound } from '../errors.ts';
import { answerWith, callOf } from '../http/answers.ts';
import { PROBLEM_ANSWER } from '../http/openapi.ts';
import { PageQuery, pageOf, pageViewOf } from '../http/pages.ts';
import { ContractIdField, NoBody, SubmissionIdField } from '../views/fields.ts';
import {
  SubmissionDetail,
  SubmissionView,
  toSubmissionDetail,
  toSubmissionView,
} from '../views/submission-view.ts';

const TAGS = ['submissions'];
const ContractParams = z.strictObject({ id: ContractIdField });
const SubmissionParams = z.strictObject({ id: SubmissionIdField });
const SubmissionInput = z.strictObject({
  repositoryUrl: z.string().min(1).max(2_048),
  commit: CommitShaSchema.describe('40 hex digits in lower case'),
});

export function registerSubmissions(app: Api, { database, sights, settings }: ApiContext): void {
  const { commands, reads } = database;
  const { allowedOrigins } = settings.operator;

  app.post(
    '/v1/contracts/:id/submissions',
    {
      config: { access: ['solver'] },
      schema: {
        tags: TAGS,
        summary: 'Hands in a commit; the time of the request is its place in line',
        params: ContractParams,
        body: SubmissionInput,
        response: { 201: SubmissionView, default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => {
      const { repositoryUrl, commit } = request.body;
      const problem = repositoryUrlProblem(repositoryUrl, allowedOrigins);
      if (problem !== null) throw urlRefused(problem);
      const contractId = request.params.id;
      const sight = await sights.ofContract(principalOf(request), contractId);
      return answerWith(
        reply,
        (keep) =>
          commands.submit(
            callOf(request, request.body),
            { contractId, repositoryUrl, commit },
            (row) => keep(201, toSubmissionView(row, sight), { isRepeat: row.isRepeat }),
          ),
        (id) => `/v1/submissions/${id}`,
      );
    },
  );

  app.get(
    '/v1/contracts/:id/submissions',
    {
      config: { access: 'any_key' },
      schema: {
        tags: TAGS,
        summary: 'Lists what was handed in for a contract, newest first',
        params: ContractParams,
        querystring: PageQuery,
        response: { 200: pageViewOf(SubmissionView), default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => {
      const sight = await sights.ofContract(principalOf(request), request.params.id);
      const page = await reads.listSubmissions(request.params.id, pageOf(request.query));
      return reply.send({
        items: page.items.map((row) => toSubmissionView(row, sight)),
        next: page.next,
      });
    },
  );

  app.get(
    '/v1/contracts/:id/claim-token',
    {
      config: { access: ['solver'] },
      schema: {
        tags: TAGS,
        summary:
          'The token that makes a commit the caller’s own, for contracts with claim: trailer',
        params: ContractParams,
        response: {
          200: z.strictObject({
            token: z.string(),
            trailer: z.string().describe('The line for the end of the commit message.'),
          }),
          default: PROBLEM_ANSWER,
        },
      },
    },
    async (request, reply) => {
      const { id } = principalOf(request);
      await sights.ofContract(principalOf(request), request.params.id);
      const token = await reads.claimToken(request.params.id, id);
      return reply.send({ token, trailer: `Kervyxa-Claim: ${token}` });
    },
  );

  app.get(
    '/v1/submissions/:id',
    {
      config: { access: 'any_key' },
      schema: {
        tags: TAGS,
        summary: 'One submission, with its runs',
        params: SubmissionParams,
        response: { 200: SubmissionDetail, default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => {
      const row = await reads.submission(request.params.id);
      if (row === null) throw notFound('submission');
      const sight = await sights.ofContract(principalOf(request), row.contractId, 'submission');
      return reply.send(toSubmissionDetail(row, await reads.listRuns(row.id), sight));
    },
  );

  app.post(
    '/v1/submissions/:id/retry',
    {
      config: { access: ['operator'] },
      schema: {
        tags: TAGS,
        summary: 'Has a held or inconclusive submission tried again, in its old place in line',
        params: SubmissionParams,
        body: NoBody,
        response: {
          202: z.strictObject({ id: SubmissionIdField, state: z.enum(SUBMISSION_STATES) }),
          default: PROBLEM_ANSWER,
        },
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      const row = await reads.submission(id);
      if (row === null) throw notFound('submission');
      return answerWith(reply, (keep) =>
        commands.execute(
          callOf(request, null),
          { contractId: row.contractId, command: { kind: 'retry', submissionId: id } },
          ({ submissions }) => {
            const next = submissions.find((each) => each.id === id);
            return keep(202, { id, state: next?.state ?? row.state });
          },
        ),
      );
    },
  );
}

function urlRefused(problem: string): Error {
  return createApiError('API_REPOSITORY_URL_REFUSED', {
    message: `expected the https URL of a public repository, got ${problem}`,
    fix: 'give the URL that anybody can clone from, without credentials, query or fragment',
  });
}

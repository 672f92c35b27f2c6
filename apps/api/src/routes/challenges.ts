import { CHALLENGE_KINDS, type ChallengeCase } from '@kervyxa/settlement';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { principalOf, roleMissing } from '../auth/authenticate.ts';
import type { Api, ApiContext } from '../context.ts';
import { notFound } from '../errors.ts';
import { answerWith, callOf } from '../http/answers.ts';
import { PROBLEM_ANSWER } from '../http/openapi.ts';
import {
  ChallengeReceipt,
  ChallengeView,
  toChallengeReceipt,
  toChallengeView,
} from '../views/challenge-view.ts';
import { ChallengeIdField, SubmissionIdField } from '../views/fields.ts';

const TAGS = ['challenges'];
const TEXT_LENGTH_MAX = 20_000;
const SubmissionParams = z.strictObject({ id: SubmissionIdField });
const ChallengeParams = z.strictObject({ id: ChallengeIdField });
const ChallengeInput = z.strictObject({
  kind: z.enum(CHALLENGE_KINDS),
  evidence: z.string().min(1).max(TEXT_LENGTH_MAX),
});
const ResolutionInput = z.strictObject({
  decision: z.enum(CHALLENGE_KINDS),
  statement: z.string().min(1).max(TEXT_LENGTH_MAX),
});

export function registerChallenges(app: Api, { database, sights, newId }: ApiContext): void {
  const { commands, reads } = database;

  app.post(
    '/v1/submissions/:id/challenges',
    {
      config: { access: 'any_key' },
      schema: {
        tags: TAGS,
        summary: 'Challenges a pass (role challenger), or upholds it in answer (anybody)',
        params: SubmissionParams,
        body: ChallengeInput,
        response: { 201: ChallengeReceipt, default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => {
      const challenger = principalOf(request);
      const { kind, evidence } = request.body;
      const submission = await seenSubmission(request.params.id, request);
      if (kind !== 'UPHOLD_PASS' && !challenger.roles.includes('challenger')) {
        throw roleMissing(['challenger']);
      }
      const { contractId } = submission;
      const challengeId = newId('challenge');
      const command = {
        kind: 'challenge',
        challengeId,
        submissionId: submission.id,
        challengerId: challenger.id,
        challenge: kind,
      } as const;
      return answerWith(reply, (keep) =>
        commands.execute(
          callOf(request, request.body),
          { contractId, command, statement: evidence },
          ({ challenges }) => keep(201, receiptOf(challenges, challengeId, contractId)),
        ),
      );
    },
  );

  app.get(
    '/v1/submissions/:id/challenges',
    {
      config: { access: 'any_key' },
      schema: {
        tags: TAGS,
        summary: 'The challenges of a submission, in order of filing',
        params: SubmissionParams,
        response: {
          200: z.strictObject({ items: z.array(ChallengeView) }),
          default: PROBLEM_ANSWER,
        },
      },
    },
    async (request, reply) => {
      const submission = await seenSubmission(request.params.id, request);
      const sight = await sights.ofContract(principalOf(request), submission.contractId);
      const rows = await reads.listChallenges(submission.id);
      return reply.send({
        items: rows.map((row) => toChallengeView(row, submission.solverId, sight)),
      });
    },
  );

  app.get(
    '/v1/challenges/:id',
    {
      config: { access: 'any_key' },
      schema: {
        tags: TAGS,
        summary: 'One challenge; what the parties wrote only to them, arbiters and the operator',
        params: ChallengeParams,
        response: { 200: ChallengeView, default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => {
      const row = await seenChallenge(request.params.id, request);
      const sight = await sights.ofContract(principalOf(request), row.contractId);
      const submission = await reads.submission(row.submissionId);
      return reply.send(toChallengeView(row, submission?.solverId ?? '', sight));
    },
  );

  app.post(
    '/v1/challenges/:id/resolve',
    {
      config: { access: ['arbiter'] },
      schema: {
        tags: TAGS,
        summary: 'Decides a challenge, or orders one rerun',
        params: ChallengeParams,
        body: ResolutionInput,
        response: { 200: ChallengeReceipt, default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => {
      const { id: challengeId, contractId } = await seenChallenge(request.params.id, request);
      const { decision, statement } = request.body;
      const arbiterId = principalOf(request).id;
      const command = { kind: 'resolve', challengeId, arbiterId, decision } as const;
      return answerWith(reply, (keep) =>
        commands.execute(
          callOf(request, request.body),
          { contractId, command, statement },
          ({ challenges }) => keep(200, receiptOf(challenges, challengeId, contractId)),
        ),
      );
    },
  );

  async function seenSubmission(id: string, request: FastifyRequest) {
    const row = await reads.submission(id);
    if (row === null) throw notFound('submission');
    await sights.ofContract(principalOf(request), row.contractId);
    return row;
  }

  async function seenChallenge(id: string, request: FastifyRequest) {
    const row = await reads.challenge(id);
    if (row === null) throw notFound('challenge');
    await sights.ofContract(principalOf(request), row.contractId);
    return row;
  }
}

function receiptOf(challenges: readonly ChallengeCase[], id: string, contractId: string) {
  const challenge = challenges.find((each) => each.id === id);
  if (challenge === undefined) throw new TypeError('expected the challenge in its own case');
  return toChallengeReceipt(challenge, contractId);
}

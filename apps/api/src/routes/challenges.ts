import { CHALLENGE_KINDS, type ChallengeCase } from '@kervyxa/settlement';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Sight } from '../auth/access.ts';
import { principalOf, roleMissing } from '../auth/authenticate.ts';
import type { Api, ApiContext } from '../context.ts';
import { createApiError, notFound } from '../errors.ts';
import { answerWith, callOf } from '../http/answers.ts';
import { PROBLEM_ANSWER } from '../http/openapi.ts';
import {
  ChallengeReceipt,
  ChallengeView,
  toChallengeReceipt,
  toChallengeView,
} from '../views/challenge-view.ts';
import { ChallengeIdField, SubmissionIdField, textFieldOf } from '../views/fields.ts';

const TAGS = ['challenges'];
const TEXT_LENGTH_MAX = 20_000;
const SubmissionParams = z.strictObject({ id: SubmissionIdField });
const ChallengeParams = z.strictObject({ id: ChallengeIdField });
const ChallengeInput = z.strictObject({
  kind: z.enum(CHALLENGE_KINDS),
  evidence: textFieldOf(TEXT_LENGTH_MAX),
});
const ResolutionInput = z.strictObject({
  decision: z.enum(CHALLENGE_KINDS),
  statement: textFieldOf(TEXT_LENGTH_MAX),
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
      const { submission } = await seenSubmission(request.params.id, request);
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
      return answerWith(
        reply,
        (keep) =>
          commands.execute(
            callOf(request, request.body),
            { contractId, command, statement: evidence },
            ({ challenges }) => keep(201, receiptOf(challenges, challengeId, contractId)),
          ),
        (id) => `/v1/challenges/${id}`,
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
      const { submission, sight } = await seenSubmission(request.params.id, request);
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
      const { challenge, sight } = await seenChallenge(request.params.id, request);
      const submission = await reads.submission(challenge.submissionId);
      return reply.send(toChallengeView(challenge, submission?.solverId ?? '', sight));
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
      const { challenge, sight } = await seenChallenge(request.params.id, request);
      assertApart(sight);
      const { id: challengeId, contractId } = challenge;
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
    const submission = await reads.submission(id);
    if (submission === null) throw notFound('submission');
    const { contractId } = submission;
    const sight = await sights.ofContract(principalOf(request), contractId, 'submission');
    return { submission, sight };
  }

  async function seenChallenge(id: string, request: FastifyRequest) {
    const challenge = await reads.challenge(id);
    if (challenge === null) throw notFound('challenge');
    const { contractId } = challenge;
    const sight = await sights.ofContract(principalOf(request), contractId, 'challenge');
    return { challenge, sight };
  }
}

/** Who does not see what the parties wrote, since it could submit or challenge, can't decide about it. */
function assertApart({ isArbiter }: Sight): void {
  if (isArbiter) return;
  throw createApiError('API_ARBITER_NOT_APART', {
    message: 'expected an arbiter without the roles solver and challenger, got one with them',
    fix: 'let an arbiter decide who is nothing else',
  });
}

function receiptOf(challenges: readonly ChallengeCase[], id: string, contractId: string) {
  const challenge = challenges.find((each) => each.id === id);
  if (challenge === undefined) throw new TypeError('expected the challenge in its own case');
  return toChallengeReceipt(challenge, contractId);
}

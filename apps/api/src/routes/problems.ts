import { boundTo, SealingSchema } from '@kervyxa/checker';
import { Sha256HexSchema } from '@kervyxa/core';
import { z } from 'zod';
import { isPureArbiter } from '../auth/access.ts';
import { principalOf } from '../auth/authenticate.ts';
import type { Api, ApiContext } from '../context.ts';
import { notFound } from '../errors.ts';
import { answerWith, callOf } from '../http/answers.ts';
import { sendBlob } from '../http/blobs.ts';
import { PROBLEM_ANSWER, textAnswer } from '../http/openapi.ts';
import { PageQuery, pageOf, pageViewOf } from '../http/pages.ts';
import { keepBytes, takeFiles } from '../package-files.ts';
import {
  KeyField,
  NoBody,
  PrincipalIdField,
  ProblemIdField,
  PublishedContractIdField,
  textFieldOf,
} from '../views/fields.ts';
import {
  ProblemDetail,
  ProblemView,
  readsSlot,
  toProblemDetail,
  toProblemView,
} from '../views/problem-view.ts';
import { decideSeen, ownProblem, seenProblem } from './seen-problem.ts';

const TAGS = ['problems'];
const FINGERPRINT = /^sha256:[0-9a-f]{64}$/;
const ProblemParams = z.strictObject({ id: ProblemIdField });
const InputParams = ProblemParams.extend({ slot: KeyField });
const ProblemInput = z.strictObject({
  contractId: PublishedContractIdField,
  title: textFieldOf(200),
  statement: textFieldOf(20_000),
  sealing: SealingSchema.nullable().default(null),
  invited: z
    .array(PrincipalIdField)
    .max(200)
    .nullable()
    .default(null)
    .describe('Who may see it and submit; null: everybody.'),
});
const BindingInput = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('file'),
    package: Sha256HexSchema.describe('A folder of the caller’s own.'),
    path: z.string().min(1).max(1_024),
    mediaType: textFieldOf(120).nullable().default(null),
  }),
  z.strictObject({
    kind: z.literal('link'),
    url: z.url({ protocol: /^https$/ }).max(2_048),
    filename: textFieldOf(255),
    mediaType: textFieldOf(120).nullable().default(null),
    sizeBytes: z.int().min(0),
    contentHash: z.string().regex(FINGERPRINT),
  }),
]);
export function registerProblems(app: Api, context: ApiContext): void {
  const { database, turns } = context;
  const { commands, reads } = database.checkers;

  app.post(
    '/v1/problems',
    {
      config: { access: ['requester'] },
      schema: {
        tags: TAGS,
        summary: 'Drafts a problem that a published contract checks',
        body: ProblemInput,
        response: { 201: ProblemDetail, default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => {
      const sight = { viewerId: principalOf(request).id, seesAll: true, isOperator: false };
      const now = await reads.now();
      return answerWith(
        reply,
        (keep) =>
          commands.createProblem(callOf(request, request.body), request.body, (row) =>
            keep(201, toProblemDetail(row, sight, now)),
          ),
        (id) => `/v1/problems/${id}`,
      );
    },
  );

  app.get(
    '/v1/problems',
    {
      config: { access: 'any_key' },
      schema: {
        tags: TAGS,
        summary: 'The problems that the caller may see, newest first',
        querystring: PageQuery,
        response: { 200: pageViewOf(ProblemView), default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => {
      const principal = principalOf(request);
      const seesAll = principal.roles.includes('operator');
      const viewer = { id: principal.id, seesInviteOnly: isPureArbiter(principal) };
      const now = await reads.now();
      const page = await reads.listProblems(seesAll ? null : viewer, pageOf(request.query));
      return reply.send({
        items: page.items.map((row) => toProblemView(row, now)),
        next: page.next,
      });
    },
  );

  app.get(
    '/v1/problems/:id',
    {
      config: { access: 'any_key' },
      schema: {
        tags: TAGS,
        summary: 'One problem, with what its slots are bound to',
        params: ProblemParams,
        response: { 200: ProblemDetail, default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => {
      const { row, sight, now } = await seenProblem(context, request, request.params.id);
      return reply.send(toProblemDetail(row, sight, now));
    },
  );

  app.put(
    '/v1/problems/:id/inputs/:slot',
    {
      config: { access: ['requester', 'operator'] },
      schema: {
        tags: TAGS,
        summary: 'Binds a slot of a draft to a file of an uploaded folder, or to a link',
        params: InputParams,
        body: BindingInput,
        response: { 200: ProblemDetail, default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => {
      const { id, slot } = request.params;
      const seen = await ownProblem(context, request, id);
      const binding = await bindingOf(request.body, principalOf(request).id);
      const actorId = principalOf(request).id;
      return decideSeen(context, request, reply, seen, { kind: 'bind', actorId, slot, binding });
    },
  );

  app.get(
    '/v1/problems/:id/inputs/:slot',
    {
      config: { access: 'any_key' },
      schema: {
        tags: TAGS,
        summary: 'The bytes that a slot is bound to; sealed ones to the owner until their release',
        params: InputParams,
        response: {
          200: textAnswer('application/octet-stream', 'The bytes'),
          default: PROBLEM_ANSWER,
        },
      },
    },
    async (request, reply) => {
      const { id, slot } = request.params;
      const { row, sight, now } = await seenProblem(context, request, id, 'input');
      const binding = boundTo(row.facts, slot);
      if (binding === undefined || !readsSlot(row.facts, sight, slot, now)) throw notFound('input');
      if (binding.url !== null) throw notFound('input');
      return sendBlob(database, reply, binding.contentHash.slice('sha256:'.length));
    },
  );

  for (const kind of ['open', 'close'] as const) {
    app.post(
      `/v1/problems/:id/${kind}`,
      {
        config: { access: ['requester', 'operator'] },
        schema: {
          tags: TAGS,
          summary:
            kind === 'open'
              ? 'Opens a draft for entries; from then on its terms are fixed'
              : 'Takes no entries any more',
          params: ProblemParams,
          body: NoBody,
          response: { 200: ProblemDetail, default: PROBLEM_ANSWER },
        },
      },
      async (request, reply) => {
        const seen = await ownProblem(context, request, request.params.id);
        return decideSeen(context, request, reply, seen, {
          kind,
          actorId: principalOf(request).id,
        });
      },
    );
  }

  async function bindingOf(input: z.infer<typeof BindingInput>, ownerId: string) {
    if (input.kind === 'link') {
      const { url, filename, mediaType, sizeBytes, contentHash } = input;
      return { url, filename, mediaType, sizeBytes, contentHash };
    }
    const { package: sha256, path, mediaType } = input;
    return turns.take(ownerId, async () => {
      const [content = new Uint8Array()] = await takeFiles(database, {
        ownerId,
        sha256,
        paths: [path],
      });
      const contentHash = `sha256:${await keepBytes(database, content)}`;
      const filename = path.slice(path.lastIndexOf('/') + 1);
      return { url: null, filename, mediaType, sizeBytes: content.length, contentHash };
    });
  }
}

import type { ContractRow, PrincipalRow } from '@kervyxa/db';
import { CONTRACT_STATES } from '@kervyxa/settlement';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { isPureArbiter, seesOwners, sightOf, type Sight } from '../auth/access.ts';
import { principalOf } from '../auth/authenticate.ts';
import type { Api, ApiContext } from '../context.ts';
import { draftOf, type PostedDraft } from '../contract-draft.ts';
import { createApiError, notFound } from '../errors.ts';
import { answerWith, callOf, sendJson, sendJsonAsItComes } from '../http/answers.ts';
import { PROBLEM_ANSWER } from '../http/openapi.ts';
import { PageQuery, pageOf, pageViewOf } from '../http/pages.ts';
import {
  ContractSummary,
  ContractView,
  toContractSummary,
  toContractView,
} from '../views/contract-view.ts';
import { toDocumentView } from '../views/document-view.ts';
import { ContractIdField, NoBody } from '../views/fields.ts';

const TAGS = ['contracts'];
const ContractParams = z.strictObject({ id: ContractIdField });
const ContractStateView = z.strictObject({ id: ContractIdField, state: z.enum(CONTRACT_STATES) });

export function registerContracts(app: Api, context: ApiContext): void {
  const { database, sights, settings } = context;
  const { commands, reads } = database;

  app.post(
    '/v1/contracts',
    {
      config: { access: ['requester'], takesContract: true },
      bodyLimit: settings.contractBytesMax,
      schema: {
        tags: TAGS,
        summary: 'Posts a contract as a draft',
        description:
          'The body is the document itself (kervyxa.contract.v1). A document whose form is refused is 422 with every finding in `details`; findings on its merit come with the draft.',
        body: z.unknown(),
        response: { 201: ContractView, default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => {
      const viewer = principalOf(request);
      const { draft, findings, packages } = draftOf(request.body, settings.operator);
      await assertOwnPackages(packages, viewer.id);
      return answerWith(
        reply,
        (keep) =>
          commands.createContract(callOf(request, request.body), draft, (row) =>
            keep(201, toContractView({ ...row, findings }, sightOfOwn(viewer, row))),
          ),
        (id) => `/v1/contracts/${id}`,
      );
    },
  );

  /** Whoever names somebody else's package would have it mounted beside code of their own. */
  async function assertOwnPackages(
    packages: PostedDraft['packages'],
    ownerId: string,
  ): Promise<void> {
    for (const { what, sha256 } of packages) {
      if ((await reads.packageOf(sha256, ownerId)) !== null) continue;
      throw createApiError('API_PACKAGE_UNKNOWN', {
        message: `expected a ${what} that was uploaded with this key, got another`,
        fix: 'upload it first with POST /v1/packages',
      });
    }
  }

  app.put(
    '/v1/contracts/:id',
    {
      config: { access: ['requester'], takesContract: true },
      bodyLimit: settings.contractBytesMax,
      schema: {
        tags: TAGS,
        summary: 'Edits a contract that holds no money: a draft again, whatever was proved before',
        description:
          'The body is the whole document, as for POST /v1/contracts. DRAFT and PROVED only. An approval that runs is forgotten.',
        params: ContractParams,
        body: z.unknown(),
        response: { 200: ContractView, default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => {
      const sight = await asRequester(request);
      const { id: contractId } = request.params;
      const { draft, findings, packages } = draftOf(request.body, settings.operator);
      await assertOwnPackages(packages, sight.viewerId);
      return answerWith(reply, (keep) =>
        commands.reviseContract(callOf(request, request.body), { contractId, draft }, (row) =>
          keep(200, toContractView({ ...row, findings }, sight)),
        ),
      );
    },
  );

  app.get(
    '/v1/contracts',
    {
      config: { access: 'any_key' },
      schema: {
        tags: TAGS,
        summary: 'Lists the contracts that the caller may see, newest first',
        querystring: PageQuery.extend({
          state: z.enum(CONTRACT_STATES).optional(),
          mine: z.literal('true').optional().describe('Only those of the caller.'),
        }),
        response: { 200: pageViewOf(ContractSummary), default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => {
      const viewer = principalOf(request);
      const { state, mine, ...paging } = request.query;
      const isOperator = viewer.roles.includes('operator');
      const page = await reads.listContracts(
        {
          states: state === undefined ? null : [state],
          requesterId: mine === undefined ? null : viewer.id,
          viewer: isOperator ? null : { id: viewer.id, seesInviteOnly: isPureArbiter(viewer) },
        },
        pageOf(paging),
      );
      const items = page.items.flatMap((row) => {
        const sight = sightOf(viewer, row);
        return sight === null ? [] : [toContractSummary(row, sight)];
      });
      return reply.send({ items, next: page.next });
    },
  );

  app.get(
    '/v1/contracts/:id',
    {
      config: { access: 'any_key' },
      schema: {
        tags: TAGS,
        summary: 'One contract; to its requester with the state and findings of its approval',
        params: ContractParams,
        response: { 200: ContractView, default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => {
      const { row, sight } = await sights.contract(principalOf(request), request.params.id);
      return reply.send(toContractView(row, sight));
    },
  );

  app.get(
    '/v1/contracts/:id/document',
    {
      config: { access: 'any_key' },
      schema: {
        tags: TAGS,
        summary: 'The document, as far as the caller may see it',
        params: ContractParams,
        response: {
          200: z.record(z.string(), z.unknown()).describe('kervyxa.contract.v1, canonical'),
          default: PROBLEM_ANSWER,
        },
      },
    },
    async (request, reply) => {
      const { row, sight } = await sights.contract(principalOf(request), request.params.id);
      return sendJson(reply, 200, toDocumentView(row.document, sight));
    },
  );

  app.get(
    '/v1/contracts/:id/proving',
    {
      config: { access: 'any_key' },
      schema: {
        tags: TAGS,
        summary: 'What the last approval saw when it ran the contract; to requester and operator',
        description:
          'Every criterion on the base, on the commits of `proof` and on the cheats made from them, and each replay. 404 where no approval of this document came so far.',
        params: ContractParams,
        response: {
          200: z.record(z.string(), z.unknown()).describe('kervyxa.proving.v1'),
          default: PROBLEM_ANSWER,
        },
      },
    },
    async (request, reply) => {
      const { row, sight } = await sights.contract(principalOf(request), request.params.id);
      const report = seesOwners(sight) ? row.provingBlob : null;
      const chunks = report === null ? null : await database.blobs.readBlob(report);
      if (chunks === null) throw notFound('proving report');
      return sendJsonAsItComes(reply, chunks);
    },
  );

  app.post(
    '/v1/contracts/:id/approve',
    {
      config: { access: ['requester'] },
      schema: {
        tags: TAGS,
        summary: 'Has a worker approve the draft; watch its events or ask again for the outcome',
        params: ContractParams,
        body: NoBody,
        response: { 202: ContractView, default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => {
      const sight = await asRequester(request);
      return answerWith(reply, (keep) =>
        commands.startApproval(callOf(request, null), request.params.id, (row) =>
          keep(202, toContractView(row, sight)),
        ),
      );
    },
  );

  for (const [kind, summary] of [
    ['fund', 'Moves the reward into escrow and opens the contract'],
    ['cancel', 'Ends the contract with a refund; refused while a submission is undecided'],
  ] as const) {
    app.post(
      `/v1/contracts/:id/${kind}`,
      {
        config: { access: ['requester'] },
        schema: {
          tags: TAGS,
          summary,
          params: ContractParams,
          body: NoBody,
          response: { 200: ContractStateView, default: PROBLEM_ANSWER },
        },
      },
      async (request, reply) => {
        await asRequester(request);
        const { id } = request.params;
        return executeAndAnswer(request, reply, { id, kind });
      },
    );
  }

  async function executeAndAnswer(
    request: FastifyRequest,
    reply: FastifyReply,
    { id, kind }: { readonly id: string; readonly kind: 'fund' | 'cancel' },
  ): Promise<FastifyReply> {
    return answerWith(reply, (keep) =>
      commands.execute(
        callOf(request, null),
        { contractId: id, command: { kind } },
        ({ contract }) => keep(200, { id, state: contract.state }),
      ),
    );
  }

  /** Others that may see the contract are told that they may not do that; to the rest there is none. */
  async function asRequester(
    request: FastifyRequest<{ Params: z.infer<typeof ContractParams> }>,
  ): Promise<Sight> {
    const sight = await sights.ofContract(principalOf(request), request.params.id);
    if (sight.isRequester) return sight;
    throw createApiError('API_NOT_OWNER', {
      message: 'expected the key of the contract’s requester, got another',
      fix: 'ask its requester',
    });
  }
}

function sightOfOwn(viewer: PrincipalRow, row: ContractRow): Sight {
  const sight = sightOf(viewer, row);
  if (sight === null) throw new TypeError('expected a requester to see the own contract');
  return sight;
}

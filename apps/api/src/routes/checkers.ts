import {
  findScript,
  isForScript,
  lintEvidenceSchemas,
  type LintFinding,
  readCheckerPackage,
  VERIFIER_CONTRACT_JSON_SCHEMA,
} from '@kervyxa/checker';
import { Sha256HexSchema } from '@kervyxa/core';
import { z } from 'zod';
import { principalOf } from '../auth/authenticate.ts';
import type { Api, ApiContext } from '../context.ts';
import { createApiError, notFound } from '../errors.ts';
import { answerWith, callOf } from '../http/answers.ts';
import { PROBLEM_ANSWER, textAnswer } from '../http/openapi.ts';
import { PageQuery, pageOf, pageViewOf } from '../http/pages.ts';
import { readPublished, takeFolder } from '../package-files.ts';
import {
  CheckerDetail,
  CheckerView,
  ImplementationView,
  PublicationView,
  toCheckerDetail,
  toCheckerView,
  toImplementationView,
} from '../views/checker-view.ts';
import {
  ImplementationIdField,
  NoBody,
  PublishedContractIdField,
  textFieldOf,
} from '../views/fields.ts';

const TAGS = ['checkers'];
const CheckerParams = z.strictObject({ id: PublishedContractIdField });
const PublicationInput = z.strictObject({
  package: Sha256HexSchema.describe('Of the folder, as POST /v1/packages answered.'),
  name: textFieldOf(200).describe('Of a new family; of a known one it does not matter.'),
  verifierId: z
    .string()
    .regex(/^vfr_[0-9a-z]{10,32}$/)
    .nullable()
    .default(null)
    .describe('The family that it is the next version of; null: a new one.'),
});

export function registerCheckers(app: Api, { database, turns }: ApiContext): void {
  const { commands, reads } = database.checkers;

  app.post(
    '/v1/checkers',
    {
      config: { access: ['requester'] },
      schema: {
        tags: TAGS,
        summary: 'Publishes a checker package; its programs decide once they conform',
        body: PublicationInput,
        response: { 201: PublicationView, default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => {
      const { id: ownerId } = principalOf(request);
      const { package: sha256, name, verifierId } = request.body;
      return turns.take(ownerId, async () => {
        const reading = readCheckerPackage(await takeFolder(database, ownerId, sha256), sha256);
        const { package: checker, findings } = reading;
        if (checker === null) throw refused(findings);
        const broken = await lintEvidenceSchemas(checker.contract);
        if (broken.length > 0) throw refused(broken);
        return answerWith(
          reply,
          (keep) =>
            commands.publish(
              callOf(request, request.body),
              { verifierId, name, checker },
              ({ contract, isNewContract, implementations }) =>
                keep(201, {
                  ...toCheckerView(contract),
                  isNew: isNewContract,
                  implementations: implementations.map((each) =>
                    toImplementationView(each, { seesOwners: true }),
                  ),
                }),
            ),
          (id) => `/v1/checkers/${id}`,
        );
      });
    },
  );

  app.get(
    '/v1/checkers',
    {
      config: { access: 'any_key' },
      schema: {
        tags: TAGS,
        summary: 'The published contracts of all, newest first',
        querystring: PageQuery,
        response: { 200: pageViewOf(CheckerView), default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => {
      const page = await reads.listPublishedContracts(null, pageOf(request.query));
      return reply.send({ items: page.items.map(toCheckerView), next: page.next });
    },
  );

  app.get(
    '/schemas/verifier-contract.schema.json',
    {
      config: { access: 'open' },
      schema: {
        tags: TAGS,
        summary: 'VerifierContract 0.5.0 as JSON Schema 2020-12',
        response: { 200: z.looseObject({}), default: PROBLEM_ANSWER },
      },
    },
    async (_request, reply) => reply.send(VERIFIER_CONTRACT_JSON_SCHEMA),
  );

  app.get(
    '/v1/checkers/:id',
    {
      config: { access: 'any_key' },
      schema: {
        tags: TAGS,
        summary: 'One published contract, with its document',
        params: CheckerParams,
        response: { 200: CheckerDetail, default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => reply.send(toCheckerDetail(await contractOf(request.params.id))),
  );

  app.post(
    '/v1/checkers/:id/yank',
    {
      config: { access: ['requester'] },
      schema: {
        tags: TAGS,
        summary: 'Offers it for no new problem any more; problems that have it keep it',
        params: CheckerParams,
        body: NoBody,
        response: { 200: CheckerView, default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) =>
      answerWith(reply, (keep) =>
        commands.yank(callOf(request, null), request.params.id, (row) =>
          keep(200, toCheckerView(row)),
        ),
      ),
  );

  app.get(
    '/v1/checkers/:id/implementations',
    {
      config: { access: 'any_key' },
      schema: {
        tags: TAGS,
        summary: 'The programs of its sandbox stages, newest first, and how their fixtures went',
        params: CheckerParams,
        querystring: PageQuery,
        response: { 200: pageViewOf(ImplementationView), default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => {
      const viewer = principalOf(request);
      const contract = await contractOf(request.params.id);
      const seesOwners = contract.ownerId === viewer.id || viewer.roles.includes('operator');
      const page = await reads.listImplementations(contract.id, pageOf(request.query));
      return reply.send({
        items: page.items.map((row) => toImplementationView(row, { seesOwners })),
        next: page.next,
      });
    },
  );

  app.get(
    '/v1/implementations/:id/program',
    {
      config: { access: 'any_key' },
      schema: {
        tags: TAGS,
        summary: 'The script that an implementation runs, byte for byte',
        params: z.strictObject({ id: ImplementationIdField }),
        response: {
          200: textAnswer('text/plain', 'A script; 404 for builtins and images, which have none'),
          default: PROBLEM_ANSWER,
        },
      },
    },
    async (request, reply) => {
      const found = await reads.implementation(request.params.id);
      if (found === null) throw notFound('program');
      const { packageSha256, stageKey } = found;
      const script = await turns.take(principalOf(request).id, async () =>
        findScript(await readPublished(database, packageSha256, isForScript), stageKey),
      );
      if (script === null) throw notFound('program');
      return reply.type('text/plain; charset=utf-8').send(Buffer.from(script));
    },
  );

  app.post(
    '/v1/implementations/:id/retry',
    {
      config: { access: ['operator'] },
      schema: {
        tags: TAGS,
        summary: 'Has fixtures tried again that our own trouble ended',
        params: z.strictObject({ id: ImplementationIdField }),
        body: NoBody,
        response: { 202: z.strictObject({ id: ImplementationIdField }), default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      return answerWith(reply, (keep) =>
        commands.retryConformance(callOf(request, null), id, () => keep(202, { id })),
      );
    },
  );

  app.get(
    '/v1/review-protocols/:id',
    {
      config: { access: 'any_key' },
      schema: {
        tags: TAGS,
        summary: 'A published review protocol: who judges, what they are asked, how it combines',
        params: z.strictObject({ id: z.string().regex(/^rpt_[0-9a-z]{10,32}$/) }),
        response: { 200: z.looseObject({ id: z.string() }), default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => {
      const protocol = await reads.reviewProtocol(request.params.id);
      if (protocol === null) throw notFound('review protocol');
      return reply.send({ ...protocol });
    },
  );

  async function contractOf(id: string) {
    const row = await reads.publishedContract(id);
    if (row === null) throw notFound('published contract');
    return row;
  }
}

function refused(findings: readonly LintFinding[]): Error {
  const [first] = findings.filter(({ severity }) => severity === 'refuse');
  return createApiError('API_CHECKER_REFUSED', {
    message: first?.message ?? 'expected a checker package, got a folder that lint refuses',
    fix: 'mend what details.findings lists; `kervyxa checker lint` says the same',
    details: { findings },
  });
}

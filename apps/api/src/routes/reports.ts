import {
  checkAgainstSchema,
  type ExternalReport,
  isSignedBy,
  parsePartnerKey,
  type Reporter,
  STAGE_OUTCOMES,
} from '@kervyxa/checker';
import { Sha256HexSchema } from '@kervyxa/core';
import type { CheckRow, PartnerKeyRow, PrincipalRow } from '@kervyxa/db';
import { z } from 'zod';
import { principalOf } from '../auth/authenticate.ts';
import type { Api, ApiContext } from '../context.ts';
import { createApiError, notFound } from '../errors.ts';
import { answerWith, callOf } from '../http/answers.ts';
import { PROBLEM_ANSWER } from '../http/openapi.ts';
import {
  CheckIdField,
  JsonField,
  KeyField,
  NoBody,
  TimeField,
  textFieldOf,
  toTime,
  toTimeOrNull,
} from '../views/fields.ts';

const TAGS = ['reports'];
const ReportInput = z.strictObject({
  stage: KeyField,
  result: z
    .enum(STAGE_OUTCOMES)
    .nullable()
    .default(null)
    .describe('What the system itself judges.'),
  statement: textFieldOf(10_000).nullable().default(null),
  evidence: JsonField.describe('Any JSON value; of the form that the stage declares.'),
  signature: z
    .strictObject({
      key: Sha256HexSchema.describe('Fingerprint of a registered key of the system.'),
      value: z.string().max(200).describe('Ed25519, base64; docs/checkers.md has what is signed.'),
    })
    .nullable()
    .default(null),
});
const ReceiptView = z.strictObject({ id: CheckIdField, state: z.string() });
const PartnerKeyInput = z.strictObject({
  externalSystem: textFieldOf(200).describe('As the stages of contracts name it.'),
  publicKey: z.string().max(2_000).describe('Ed25519, PEM.'),
});
const PartnerKeyView = z.strictObject({
  fingerprint: z.string().describe('SHA-256 of the SPKI, 64 hex digits.'),
  externalSystem: z.string(),
  publicKey: z.string(),
  createdAt: TimeField,
  retiredAt: TimeField.nullable(),
});

export function registerReports(app: Api, { database, turns }: ApiContext): void {
  const { commands, reads } = database.checkers;

  app.post(
    '/v1/checks/:id/reports',
    {
      config: { access: 'any_key' },
      schema: {
        tags: TAGS,
        summary: 'Reports what a system outside found: signed by it, or brought by the operator',
        params: z.strictObject({ id: CheckIdField }),
        body: ReportInput,
        response: { 200: ReceiptView, default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => {
      const { id: checkId } = request.params;
      const { stage, signature, result, statement, evidence } = request.body;
      const report = { result, statement, evidence };
      const check = await reads.check(checkId);
      const reporter = await reporterOf(check, { stage, report, signature }, principalOf(request));
      if (check === null || reporter === null) throw notFound('check that waits for such a report');
      const evidenceProblem = await turns.take(principalOf(request).id, () =>
        findProblem(check, stage, evidence),
      );
      const command = { kind: 'report', stage, report, reporter, evidenceProblem } as const;
      return answerWith(reply, (keep) =>
        commands.decideCheck(callOf(request, request.body), { checkId, command }, ({ facts }) =>
          keep(200, { id: checkId, state: facts.state }),
        ),
      );
    },
  );

  app.post(
    '/v1/partner-keys',
    {
      config: { access: ['operator'] },
      schema: {
        tags: TAGS,
        summary: 'Registers a key by which a system outside signs its reports',
        body: PartnerKeyInput,
        response: { 201: PartnerKeyView, default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => {
      const { externalSystem } = request.body;
      const { pem: publicKey, fingerprint } = parsePartnerKey(request.body.publicKey);
      return answerWith(reply, (keep) =>
        commands.addPartnerKey(
          callOf(request, request.body),
          { fingerprint, externalSystem, publicKey },
          (row) => keep(201, toPartnerKeyView(row)),
        ),
      );
    },
  );

  app.get(
    '/v1/partner-keys',
    {
      config: { access: 'any_key' },
      schema: {
        tags: TAGS,
        summary: 'The registered keys of systems outside, retired ones too, newest first',
        response: {
          200: z.strictObject({ items: z.array(PartnerKeyView) }),
          default: PROBLEM_ANSWER,
        },
      },
    },
    async (_request, reply) => {
      const keys = await reads.listPartnerKeys();
      return reply.send({ items: keys.map(toPartnerKeyView) });
    },
  );

  app.post(
    '/v1/partner-keys/:fingerprint/retire',
    {
      config: { access: ['operator'] },
      schema: {
        tags: TAGS,
        summary: 'Takes no report by the key any more; what it signed before stays',
        params: z.strictObject({ fingerprint: Sha256HexSchema }),
        body: NoBody,
        response: { 200: PartnerKeyView, default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) =>
      answerWith(reply, (keep) =>
        commands.retirePartnerKey(callOf(request, null), request.params.fingerprint, (row) =>
          keep(200, toPartnerKeyView(row)),
        ),
      ),
  );

  /**
   * Whose word it is. A signature is its own right, since a system need not see the problem; null is nobody's.
   * Throws API_SIGNATURE_REFUSED.
   */
  async function reporterOf(
    check: CheckRow | null,
    said: {
      readonly stage: string;
      readonly report: ExternalReport;
      readonly signature: z.infer<typeof ReportInput>['signature'];
    },
    { id, roles, invitedById: invitedBy }: PrincipalRow,
  ): Promise<Reporter | null> {
    const { stage, report, signature } = said;
    if (signature === null)
      return roles.includes('operator') ? { kind: 'operator', id, invitedBy } : null;
    const keys = check === null ? [] : await reads.listPartnerKeys();
    const key = keys.find(
      ({ fingerprint, retiredAt }) => fingerprint === signature.key && retiredAt === null,
    );
    const system = key?.externalSystem ?? '';
    const statement = { checkId: check?.id ?? '', stage, system, report };
    if (key !== undefined && isSignedBy(statement, signature.value, key.publicKey))
      return { kind: 'signature', system, key: key.fingerprint };
    throw createApiError('API_SIGNATURE_REFUSED', {
      message: 'expected the signature of a registered key over exactly this report, got another',
      fix: 'sign the canonical JSON that docs/checkers.md describes, and name the key in use',
    });
  }

  async function findProblem(
    { facts: { stages, results }, contractId }: CheckRow,
    stageKey: string,
    evidence: unknown,
  ): Promise<string | null> {
    // Checking takes a thread: only for what is waited for.
    if (stages[results.length]?.key !== stageKey) return null;
    const contract = await reads.publishedContract(contractId);
    const stage = contract?.document.stages.find(({ key }) => key === stageKey);
    const schema = stage?.evidence_schema ?? null;
    if (schema === null) return null;
    const checked = await checkAgainstSchema(schema, evidence);
    if (checked.kind === 'valid') return null;
    if (checked.kind === 'schema_broken')
      return `a schema that can't be checked: ${checked.message}`;
    return checked.problems.map(({ pointer, message }) => `${pointer}: ${message}`).join('; ');
  }
}

function toPartnerKeyView(row: PartnerKeyRow): z.infer<typeof PartnerKeyView> {
  const { fingerprint, externalSystem, publicKey, createdAt, retiredAt } = row;
  return {
    fingerprint,
    externalSystem,
    publicKey,
    createdAt: toTime(createdAt),
    retiredAt: toTimeOrNull(retiredAt),
  };
}

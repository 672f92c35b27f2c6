import { Readable } from 'node:stream';
import type { EvidenceRow } from '@kervyxa/db';
import {
  EvaluationRecordSchema,
  listedBlobs,
  packBundle,
  parsePublicKeys,
} from '@kervyxa/evidence';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { seesHidden, seesSource } from '../auth/access.ts';
import { principalOf } from '../auth/authenticate.ts';
import type { Api, ApiContext } from '../context.ts';
import { createApiError, notFound } from '../errors.ts';
import { sendJson } from '../http/answers.ts';
import { PROBLEM_ANSWER, textAnswer } from '../http/openapi.ts';
import { RunIdField } from '../views/fields.ts';
import { viewedEvidence, type ViewedEvidence } from '../views/evidence-view.ts';
import { seenRun, type SeenRun } from './runs.ts';

const TAGS = ['runs'];
const RunParams = z.strictObject({ id: RunIdField });
const EnvelopeView = z.strictObject({
  payload: z.base64().describe('An in-toto Statement v1, RFC 8785 text.'),
  payloadType: z.literal('application/vnd.in-toto+json'),
  signatures: z.array(z.strictObject({ keyid: z.string(), sig: z.base64() })),
});

/** What a sealed run leaves for others to check, whole for those who see hidden criteria (ADR 0046). */
export function registerEvidence(app: Api, context: ApiContext): void {
  const { database, settings } = context;
  /** Whose bundles are under way: one of each at a time, so that nobody takes all places. */
  const downloading = new Set<string>();

  async function seenEvidence(
    request: FastifyRequest,
    runId: string,
    what: 'record' | 'signed record' | 'bundle',
  ): Promise<{ readonly seen: SeenRun; readonly row: EvidenceRow; readonly view: ViewedEvidence }> {
    const seen = await seenRun(context, principalOf(request), runId);
    // All but the evaluation name the commit.
    if (what !== 'record' && !seesSource(seen.sight, seen.submission)) throw notFound(what);
    const row = await database.reads.evidence(runId);
    if (row === null) throw notFound(what);
    return { seen, row, view: viewedEvidence(row, seen.sight) };
  }

  app.get(
    '/v1/runs/:id/evaluation',
    {
      config: { access: 'any_key' },
      schema: {
        tags: TAGS,
        summary: 'The evaluation record of a sealed run: every declared check as it was reported',
        params: RunParams,
        response: { 200: EvaluationRecordSchema, default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => {
      const { view } = await seenEvidence(request, request.params.id, 'record');
      return sendJson(reply, 200, view.evaluation);
    },
  );

  app.get(
    '/v1/runs/:id/attestation',
    {
      config: { access: 'any_key' },
      schema: {
        tags: TAGS,
        summary: 'What the worker signed of a sealed run, as a DSSE envelope',
        params: RunParams,
        response: { 200: EnvelopeView, default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => {
      const { view } = await seenEvidence(request, request.params.id, 'signed record');
      return sendJson(reply, 200, view.attestation);
    },
  );

  app.get(
    '/v1/runs/:id/evidence',
    {
      config: { access: 'any_key', isStream: true },
      schema: {
        tags: TAGS,
        summary: 'All that it takes to check a sealed run, and to run it again elsewhere, as a tar',
        description:
          'With the hidden package for those who see hidden criteria. One at a time. `kervyxa evidence verify` and `replay` read it.',
        params: RunParams,
        response: {
          200: textAnswer('application/x-tar', 'docs/evidence.md tells what is in it.'),
          default: PROBLEM_ANSWER,
        },
      },
    },
    async (request, reply) => {
      const { id: viewerId } = principalOf(request);
      const { seen, row, view } = await seenEvidence(request, request.params.id, 'bundle');
      const contract = await database.reads.contract(seen.run.contractId);
      if (contract === null || seen.run.result === null) throw notFound('bundle');
      const isFull = seesHidden(seen.sight);
      const contractText = isFull
        ? contract.document
        : await readText(database, row.publicContractBlob);
      const resultText = isFull ? seen.run.result : row.publicResult;
      const [key] = parsePublicKeys(row.publicKey);
      if (key === undefined) throw new TypeError('expected the key of an attestation');

      if (downloading.has(viewerId) || downloading.size >= settings.bundlesMax) throw busy();
      downloading.add(viewerId);
      const stream = Readable.from(
        packBundle({
          texts: {
            'bundle.json': view.manifest,
            'contract.json': contractText,
            'result.json': resultText,
            'evaluation.json': view.evaluation,
            'run.json': row.request,
          },
          attestation: view.attestation,
          key,
          blobs: listedBlobs(view.manifest),
          openBlob: ({ sha256 }) => readBlob(database, sha256),
        }),
      );
      stream.once('close', () => downloading.delete(viewerId));
      return reply
        .type('application/x-tar')
        .header('content-disposition', `attachment; filename="${seen.run.id}.evidence.tar"`)
        .send(stream);
    },
  );
}

/** A piece at a time, and none before the last was taken; whoever goes away ends it. */
async function* readBlob(
  { blobs }: ApiContext['database'],
  sha256: string,
): AsyncGenerator<Uint8Array> {
  const blob = await blobs.readBlob(sha256);
  if (blob === null) throw new Error(`expected blob ${sha256} in the database, got none`);
  yield* blob;
}

async function readText(database: ApiContext['database'], sha256: string): Promise<string> {
  return Buffer.concat(await Array.fromAsync(readBlob(database, sha256))).toString();
}

function busy(): Error {
  return createApiError('API_BUSY', {
    message: 'expected fewer downloads at once, got more than the operator allows',
    fix: 'end the one that is under way, or try again in a while',
  });
}

import { Sha256HexSchema } from '@kervyxa/core';
import type { EntryRow } from '@kervyxa/db';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { principalOf } from '../auth/authenticate.ts';
import { seesEntry } from '../auth/problem-access.ts';
import type { Api, ApiContext } from '../context.ts';
import { notFound } from '../errors.ts';
import { answerWith, callOf } from '../http/answers.ts';
import { sendBlob } from '../http/blobs.ts';
import { PROBLEM_ANSWER, textAnswer } from '../http/openapi.ts';
import { PageQuery, pageOf, pageViewOf } from '../http/pages.ts';
import { keepBytes, takeFiles } from '../package-files.ts';
import { EntryView, toEntryView } from '../views/entry-view.ts';
import { EntryIdField, KeyField, NoBody, ProblemIdField, textFieldOf } from '../views/fields.ts';
import { ProblemDetail, toProblemDetail } from '../views/problem-view.ts';
import { seenProblem, type SeenProblem } from './seen-problem.ts';

const TAGS = ['entries'];
const EntryParams = z.strictObject({ id: EntryIdField });
const EntryInput = z.strictObject({
  summaryText: textFieldOf(10_000).nullable().default(null),
  files: z
    .strictObject({
      package: Sha256HexSchema.describe('A folder of the caller’s own.'),
      artifacts: z
        .array(
          z.strictObject({
            role: KeyField,
            path: z.string().min(1).max(1_024),
            mediaType: textFieldOf(120).nullable().default(null),
          }),
        )
        .min(1)
        .max(10)
        .refine(
          (artifacts) => new Set(artifacts.map(({ role }) => role)).size === artifacts.length,
          'expected every role once',
        ),
    })
    .nullable()
    .default(null),
});

export interface SeenEntry extends SeenProblem {
  readonly entry: EntryRow;
}

/** The entry, where the viewer may see it. Throws API_NOT_FOUND. */
export async function seenEntry(
  context: ApiContext,
  request: FastifyRequest,
  id: string,
  what = 'entry',
): Promise<SeenEntry> {
  const entry = await context.database.checkers.reads.entry(id);
  if (entry === null) throw notFound(what);
  const seen = await seenProblem(context, request, entry.problemId, what);
  if (!seesEntry(seen.sight, seen.row.facts, entry, seen.now)) throw notFound(what);
  return { ...seen, entry };
}

export function registerEntries(app: Api, context: ApiContext): void {
  const { database, turns } = context;
  const { commands, reads } = database.checkers;

  app.post(
    '/v1/problems/:id/entries',
    {
      config: { access: ['solver', 'requester'] },
      schema: {
        tags: TAGS,
        summary: 'Hands in an answer: text, files of an uploaded folder by role, or both',
        params: z.strictObject({ id: ProblemIdField }),
        body: EntryInput,
        response: { 201: EntryView, default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => {
      const { row } = await seenProblem(context, request, request.params.id);
      const { summaryText, files } = request.body;
      const artifacts = files === null ? [] : await artifactsOf(files, principalOf(request).id);
      const input = { problemId: row.id, summaryText, artifacts };
      return answerWith(
        reply,
        (keep) =>
          commands.submitEntry(callOf(request, request.body), input, (entry) =>
            keep(201, toEntryView(entry)),
          ),
        (id) => `/v1/entries/${id}`,
      );
    },
  );

  app.get(
    '/v1/problems/:id/entries',
    {
      config: { access: 'any_key' },
      schema: {
        tags: TAGS,
        summary: 'The entries that the caller may see, newest first',
        params: z.strictObject({ id: ProblemIdField }),
        querystring: PageQuery,
        response: { 200: pageViewOf(EntryView), default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => {
      const { row, sight, now } = await seenProblem(context, request, request.params.id);
      // Of a stranger's it would tell how many there are, page by page.
      const isHidden = !seesEntry(sight, row.facts, { solverId: '' }, now);
      const page = await reads.listEntries(
        { problemId: row.id, solverId: isHidden ? sight.viewerId : null },
        pageOf(request.query),
      );
      return reply.send({ items: page.items.map(toEntryView), next: page.next });
    },
  );

  app.get(
    '/v1/entries/:id',
    {
      config: { access: 'any_key' },
      schema: {
        tags: TAGS,
        summary: 'One entry; independent ones to others only after the cutoff',
        params: EntryParams,
        response: { 200: EntryView, default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => {
      const { entry } = await seenEntry(context, request, request.params.id);
      return reply.send(toEntryView(entry));
    },
  );

  app.get(
    '/v1/entries/:id/artifacts/:role',
    {
      config: { access: 'any_key' },
      schema: {
        tags: TAGS,
        summary: 'The bytes that an entry has for a role',
        params: EntryParams.extend({ role: KeyField }),
        response: {
          200: textAnswer('application/octet-stream', 'The bytes'),
          default: PROBLEM_ANSWER,
        },
      },
    },
    async (request, reply) => {
      const { id, role } = request.params;
      const { entry } = await seenEntry(context, request, id, 'artifact');
      const found = entry.artifacts.find((each) => each.role === role);
      if (found === undefined) throw notFound('artifact');
      return sendBlob(database, reply, found.blob);
    },
  );

  app.post(
    '/v1/entries/:id/nominate',
    {
      config: { access: ['solver', 'requester'] },
      schema: {
        tags: TAGS,
        summary: 'Has the entry stand for its solver, where entries are independent',
        params: EntryParams,
        body: NoBody,
        response: { 200: ProblemDetail, default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => {
      const { entry, sight, now } = await seenEntry(context, request, request.params.id);
      const { id: entryId, problemId, solverId } = entry;
      const participantId = sight.viewerId;
      const readsSealed = sight.isOperator;
      const command = { kind: 'nominate', participantId, entryId, solverId, readsSealed } as const;
      return answerWith(reply, (keep) =>
        commands.decideProblem(callOf(request, null), { problemId, command }, (row) =>
          keep(200, toProblemDetail(row, sight, now)),
        ),
      );
    },
  );

  async function artifactsOf(
    { package: sha256, artifacts }: NonNullable<z.infer<typeof EntryInput>['files']>,
    ownerId: string,
  ) {
    return turns.take(ownerId, async () => {
      const paths = artifacts.map(({ path }) => path);
      const contents = await takeFiles(database, { ownerId, sha256, paths });
      return Promise.all(
        artifacts.map(async ({ role, path, mediaType }, index) => ({
          role,
          filename: path.slice(path.lastIndexOf('/') + 1),
          mediaType,
          blob: await keepBytes(database, contents[index] ?? new Uint8Array()),
        })),
      );
    });
  }
}

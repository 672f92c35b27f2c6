import { readPackageUpload } from '@kervyxa/intake/package';
import { Sha256HexSchema } from '@kervyxa/core';
import type { PackageRow } from '@kervyxa/db';
import { z } from 'zod';
import { principalOf } from '../auth/authenticate.ts';
import type { Api, ApiContext } from '../context.ts';
import { notFound } from '../errors.ts';
import { answerWith, callOf } from '../http/answers.ts';
import { PROBLEM_ANSWER } from '../http/openapi.ts';
import { PageQuery, pageOf, pageViewOf } from '../http/pages.ts';
import { readUpload, uploadBytesMax } from '../http/upload.ts';
import { CountField, PrincipalIdField, TimeField, toTime } from '../views/fields.ts';

const TAGS = ['packages'];
/** What the answer to an upload says. */
const PackageReceipt = z.strictObject({
  sha256: z
    .string()
    .describe(
      'What contracts name as verifierPackage.sha256, environment.dependencies.sha256 or checker.sha256.',
    ),
  sizeBytes: CountField,
  entryCount: z.int(),
});
const PackageView = PackageReceipt.extend({ ownerId: PrincipalIdField, createdAt: TimeField });

export function registerPackages(app: Api, { database, settings, turns }: ApiContext): void {
  app.post(
    '/v1/packages',
    {
      config: { access: ['requester', 'solver'], takesTar: true },
      schema: {
        tags: TAGS,
        summary:
          'Uploads a folder as a tar: a hidden package, a dependency bundle, a checker package or the files of an entry',
        description:
          'Of a small tar, order, owners, times and format do not matter: the digest is that of the same folder packed by `kervyxa package pack`. A large one must be as `kervyxa deps pack` or `kervyxa package pack` wrote it. docs/api.md has the limits.',
        consumes: ['application/x-tar'],
        body: z
          .unknown()
          .meta({ type: 'string', format: 'binary', description: 'A POSIX tar, not compressed' }),
        response: { 201: PackageReceipt, default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => {
      const { id: ownerId } = principalOf(request);
      return turns.take(ownerId, async () => {
        const stream = readUpload(request, settings.upload);
        const upload = await readPackageUpload(stream, settings.upload);
        const bytesMax = uploadBytesMax(settings.upload);
        const { sha256, sizeBytes } = await database.blobs.saveBlob(upload.chunks, { bytesMax });
        const entryCount = upload.entryCount();
        return answerWith(
          reply,
          (keep) =>
            database.commands.savePackage(
              callOf(request, { sha256 }),
              { sha256, sizeBytes, entryCount },
              () => keep(201, { sha256, sizeBytes: sizeBytes.toString(), entryCount }),
            ),
          () => `/v1/packages/${sha256}`,
        );
      });
    },
  );

  app.get(
    '/v1/packages/:sha256',
    {
      config: { access: ['requester', 'solver', 'operator'] },
      schema: {
        tags: TAGS,
        summary: 'A package that the caller has uploaded',
        params: z.strictObject({ sha256: Sha256HexSchema }),
        response: { 200: PackageView, default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => {
      const { sha256 } = request.params;
      const found = await database.reads.packageOf(sha256, principalOf(request).id);
      if (found === null) throw notFound('package');
      return reply.send(toPackageView(found));
    },
  );

  app.get(
    '/v1/packages',
    {
      config: { access: ['requester', 'solver', 'operator'] },
      schema: {
        tags: TAGS,
        summary: 'The packages that the caller has uploaded, or all to the operator, by digest',
        querystring: PageQuery,
        response: { 200: pageViewOf(PackageView), default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => {
      const { id, roles } = principalOf(request);
      const owner = roles.includes('operator') ? null : id;
      const page = await database.reads.listPackages(owner, pageOf(request.query));
      return reply.send({ items: page.items.map(toPackageView), next: page.next });
    },
  );
}

function toPackageView(row: PackageRow): z.infer<typeof PackageView> {
  const { sha256, ownerId, sizeBytes, entryCount, createdAt } = row;
  return {
    sha256,
    ownerId,
    sizeBytes: sizeBytes.toString(),
    entryCount,
    createdAt: toTime(createdAt),
  };
}

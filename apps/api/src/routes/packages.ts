import { PACKAGE_LIMITS, readPackageArchive } from '@kervyxa/intake/package';
import { Sha256HexSchema } from '@kervyxa/core';
import { z } from 'zod';
import { principalOf } from '../auth/authenticate.ts';
import type { Api, ApiContext } from '../context.ts';
import { createApiError, notFound } from '../errors.ts';
import { answerWith, callOf } from '../http/answers.ts';
import { PROBLEM_ANSWER } from '../http/openapi.ts';
import { readUpload } from '../http/upload.ts';
import { CountField } from '../views/fields.ts';

const TAGS = ['packages'];
const PackageView = z.strictObject({
  sha256: z.string().describe('What contracts name as verifierPackage.sha256.'),
  sizeBytes: CountField,
  entryCount: z.int(),
});

export function registerPackages(app: Api, { database, settings }: ApiContext): void {
  /** Whose packages are being read: one of each at a time, so that nobody takes all places. */
  const uploading = new Set<string>();

  app.post(
    '/v1/packages',
    {
      config: { access: ['requester'], takesTar: true },
      schema: {
        tags: TAGS,
        summary: 'Uploads a hidden package as a tar of regular files and folders',
        description:
          'Order, owners, times and format of the tar do not matter: the digest is that of the same folder packed by `kervyxa package pack`.',
        consumes: ['application/x-tar'],
        body: z.unknown().describe('A POSIX tar, not compressed'),
        response: { 201: PackageView, default: PROBLEM_ANSWER },
      },
    },
    async (request, reply) => {
      const { id: ownerId } = principalOf(request);
      if (uploading.has(ownerId) || uploading.size >= settings.uploadsMax) throw busy();
      uploading.add(ownerId);
      try {
        const stream = readUpload(request, PACKAGE_LIMITS);
        const { sha256, archive } = await readPackageArchive(stream);
        const bytes = Buffer.concat(await Array.fromAsync(archive.open(request.signal)));
        return await answerWith(
          reply,
          (keep) =>
            database.commands.savePackage(
              callOf(request, { sha256 }),
              { sha256, bytes, entryCount: archive.entryCount },
              ({ sizeBytes, entryCount }) =>
                keep(201, { sha256, sizeBytes: sizeBytes.toString(), entryCount }),
            ),
          () => `/v1/packages/${sha256}`,
        );
      } finally {
        uploading.delete(ownerId);
      }
    },
  );

  app.get(
    '/v1/packages/:sha256',
    {
      config: { access: ['requester', 'operator'] },
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
      const { sizeBytes, entryCount } = found;
      return reply.send({ sha256, sizeBytes: sizeBytes.toString(), entryCount });
    },
  );
}

function busy(): Error {
  return createApiError('API_BUSY', {
    message: 'expected fewer uploads at once, got more than the operator allows',
    fix: 'try again in a while',
  });
}

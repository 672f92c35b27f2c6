import type { PackageLimits } from '@kervyxa/intake/package';
import type { FastifyRequest } from 'fastify';
import type { Readable } from 'node:stream';
import type { Api } from '../context.ts';
import { createApiError, typeRefused } from '../errors.ts';

// Header, long-name record and padding that tar may spend on one entry.
const ENTRY_OVERHEAD_BYTES = 4_096;

/** Tars are handed to the one route that takes them as they come: nothing of them is held before it is counted. */
export function registerUpload(app: Api): void {
  app.addContentTypeParser('application/x-tar', (request, payload, done) => {
    if (request.routeOptions.config.takesTar === true) done(null, payload);
    else done(typeRefused());
  });
}

/** What the tar of a package within the limits has at most. */
export function uploadBytesMax({ bytesMax, entriesMax }: PackageLimits): number {
  return bytesMax + entriesMax * ENTRY_OVERHEAD_BYTES;
}

/** The bytes of an upload. Throws API_BODY_TOO_LARGE, API_BODY_BROKEN_OFF, API_MEDIA_TYPE_UNSUPPORTED. */
export async function* readUpload(
  { raw, body, headers }: FastifyRequest,
  limits: PackageLimits,
): AsyncGenerator<Uint8Array> {
  if (body !== raw) throw typeRefused();
  const limit = uploadBytesMax(limits);
  if (Number(headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
  let bytes = 0;
  try {
    const pieces: AsyncIterable<Buffer> = raw satisfies Readable;
    for await (const piece of pieces) {
      bytes += piece.length;
      if (bytes > limit) throw tooLarge(limit);
      yield piece;
    }
  } catch (cause) {
    if (raw.complete || !raw.errored) throw cause;
    throw createApiError('API_BODY_BROKEN_OFF', {
      message: 'expected a whole upload, got a part of one',
      fix: 'upload it again',
      cause,
    });
  }
}

function tooLarge(limit: number): Error {
  return createApiError('API_BODY_TOO_LARGE', {
    message: `expected at most ${limit} bytes, got more`,
    fix: 'leave out what no check and no set-up reads',
  });
}

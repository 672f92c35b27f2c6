import { Readable } from 'node:stream';
import type { Database } from '@kervyxa/db';
import type { FastifyReply } from 'fastify';

/** Sends kept bytes as they are, a piece at a time. What somebody else wrote is data, and no page of ours. */
export async function sendBlob(
  { blobs }: Pick<Database, 'blobs'>,
  reply: FastifyReply,
  sha256: string,
): Promise<FastifyReply> {
  const chunks = await blobs.readBlob(sha256);
  if (chunks === null) throw new Error(`expected blob ${sha256}, got none`);
  return reply
    .header('content-type', 'application/octet-stream')
    .header('content-disposition', 'attachment')
    .send(Readable.from(chunks));
}

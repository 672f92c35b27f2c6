import { parsePublicKeys, PublicKeysSchema, toPublicKeysDocument } from '@kervyxa/evidence';
import type { Api, ApiContext } from '../context.ts';
import { notFound } from '../errors.ts';
import { PROBLEM_ANSWER } from '../http/openapi.ts';

/** So long may others take a list for the newest: a rotation or a leak is known after it. */
const CACHE_SECONDS = 300;

/** Who checks attestations asks here, and need be known to nobody. */
export function registerKeys(app: Api, { database }: ApiContext): void {
  app.get(
    '/.well-known/kervyxa-keys.json',
    {
      config: { access: 'open' },
      schema: {
        tags: ['evidence'],
        summary: 'The public keys of all workers there ever were, each with its life',
        response: { 200: PublicKeysSchema, default: PROBLEM_ANSWER },
      },
    },
    async (_request, reply) => {
      const rows = await database.reads.signingKeys();
      const keys = rows.flatMap(({ publicKey, createdAt, retiredAt }) =>
        parsePublicKeys(publicKey).map((key) => ({ ...key, createdAt, retiredAt })),
      );
      if (keys.length === 0) throw notFound('signing key');
      return reply
        .header('cache-control', `public, max-age=${CACHE_SECONDS}`)
        .send(toPublicKeysDocument(keys));
    },
  );
}

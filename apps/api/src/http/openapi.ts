import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import { ContractSchema } from '@kervyxa/contract';
import { jsonSchemaTransform } from 'fastify-type-provider-zod';
import { z } from 'zod';
import type { Api } from '../context.ts';
import { ProblemView } from './problem.ts';

/** For the `default` answer of a route. */
export const PROBLEM_ANSWER = {
  description: 'Any refusal or failure, with a stable code',
  content: { 'application/problem+json': { schema: ProblemView } },
};

/** An answer that is no JSON. */
export function textAnswer(type: string, description: string) {
  return { description, content: { [type]: { schema: z.unknown().meta({ type: 'string' }) } } };
}

/** Its findings come from lint, all at once, so the route itself takes any JSON. */
const CONTRACT_DOCUMENT = {
  ...z.toJSONSchema(ContractSchema, { io: 'input' }),
  $schema: undefined,
  description: 'kervyxa.contract.v1; docs/contracts.md tells every field.',
};

const IDEMPOTENCY_KEY = {
  type: 'string',
  pattern: '^[\\x21-\\x7e]{1,255}$',
  description:
    'With the same key and the same input, a request does nothing again and gets its first answer; with another input, 409.',
};

/** OpenAPI 3.1 at /openapi.json, and a page to browse it at /docs, which needs nothing from elsewhere. */
export async function registerOpenApi(app: Api): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'kervyxa',
        version: '1',
        description:
          'Bounties for git commits, decided by a machine. Money is a decimal string of minor units; times are UTC; ' +
          'errors are application/problem+json with a stable code.',
      },
      servers: [{ url: '/' }],
      components: {
        securitySchemes: {
          apiKey: { type: 'http', scheme: 'bearer', description: 'A key such as kvx_…' },
        },
      },
    },
    transform: (document) => {
      const { schema, url } = jsonSchemaTransform(document);
      const { method, config } = document.route;
      const needsKey =
        config?.access !== undefined && !['open', 'health'].includes(`${config.access}`);
      const takesKey = [method].flat().some((each) => each === 'POST' || each === 'PUT');
      return {
        url,
        schema: {
          ...schema,
          operationId: operationIdOf(String(method).toLowerCase(), url),
          ...(config?.takesContract === true && { body: CONTRACT_DOCUMENT }),
          ...(needsKey && { security: [{ apiKey: [] }] }),
          'x-kervyxa-access': needsKey ? [config.access].flat() : ['open'],
          ...(takesKey && {
            headers: { type: 'object', properties: { 'idempotency-key': IDEMPOTENCY_KEY } },
          }),
        },
      };
    },
  });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: DOCS_POLICY,
    uiConfig: { url: '/openapi.json', validatorUrl: 'none', persistAuthorization: false },
  });
  // Whoever opens the address that we print looks for a page.
  app.get('/', { config: { access: 'open' }, schema: { hide: true } }, async (_request, reply) =>
    reply.redirect('/docs'),
  );
  app.get(
    '/openapi.json',
    { config: { access: 'open' }, schema: { hide: true } },
    async (_request, reply) => reply.send(app.swagger()),
  );
}

/** Names the method of a generated client: `post_contracts_id_fund`. */
function operationIdOf(method: string, url: string): string {
  const words = url.match(/[A-Za-z0-9]+/g) ?? [];
  return [method, ...words.filter((word) => word !== 'v1')].join('_');
}

/** Scripts and styles of our own only; the page sets colours and sizes on its elements, which a policy calls style too. */
const DOCS_POLICY = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': ["'self'", "'unsafe-inline'"],
  'img-src': ["'self'", 'data:'],
  'connect-src': "'self'",
  'font-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
};

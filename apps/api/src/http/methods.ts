import { toPrintable } from '@kervyxa/core';
import type { Api } from '../context.ts';
import { createApiError } from '../errors.ts';

/**
 * Has every path answer 405 to the methods that it does not take, which Fastify would call an unknown path. Call it
 * before the first route, and `finish` after the last.
 */
export function refuseOtherMethods(app: Api): { finish(): void } {
  const taken = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    const methods = taken.get(url) ?? new Set();
    for (const each of [method].flat()) methods.add(each);
    taken.set(url, methods);
  });
  return {
    finish() {
      for (const [url, methods] of taken) {
        const others = app.supportedMethods.filter((method) => !methods.has(method));
        const allow = [...methods].join(', ');
        app.route({
          url,
          method: others,
          config: { access: 'open' },
          schema: { hide: true },
          // Before the body is read: whatever it is, it is not wanted.
          onRequest: async (request, reply) => {
            reply.header('allow', allow);
            throw createApiError('API_METHOD_NOT_ALLOWED', {
              message: `expected ${allow}, got ${toPrintable(request.method, 20)}`,
              fix: 'see /docs for what this path takes',
            });
          },
          handler: async () => undefined,
        });
      }
    },
  };
}

import { toPrintable } from '@kervyxa/core';
import type { Api } from '../context.ts';

const QUIET = new Set(['/healthz', '/readyz', '/metrics']);
const KEY = /kvx_[\w-]+/gi;

/**
 * One line a request: no header ever, and no key that somebody wrote into the path; and what the client wrote made
 * printable, so that no path can forge a line or move a cursor (S29).
 */
export function registerAccessLog(app: Api): void {
  app.addHook('onResponse', async (request, reply) => {
    const { url: route } = request.routeOptions;
    if (route !== undefined && QUIET.has(route) && reply.statusCode < 400) return;
    request.log.info(
      {
        method: request.method,
        path: toPrintable(request.url.replaceAll(KEY, 'kvx_…'), 300),
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        principal: request.principal?.id ?? null,
      },
      'answered',
    );
  });
}

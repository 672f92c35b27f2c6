import type { PrincipalRow, Role } from '@kervyxa/db';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Api, ApiContext } from '../context.ts';
import { createApiError } from '../errors.ts';
import { createLimiters } from '../http/rate-limit.ts';
import { hashOfKey, readBearer } from './api-key.ts';

/**
 * Who may call a route. `health`: anybody, as often as a probe likes. `local_or_operator`: a program on this machine
 * too. Else a key is needed, and one of the roles.
 */
export type Access = 'open' | 'health' | 'local_or_operator' | 'any_key' | readonly Role[];

declare module 'fastify' {
  interface FastifyRequest {
    principal: PrincipalRow | null;
    keyHash: string | null;
  }
  interface FastifyContextConfig {
    access?: Access;
    takesContract?: boolean;
    takesTar?: boolean;
    /** Its answer lasts as long as the client likes. */
    isStream?: boolean;
  }
}

/** Knows the caller before anything of the body is read. */
export function registerAuthentication(app: Api, { principals, settings }: ApiContext): void {
  app.decorateRequest('principal', null);
  app.decorateRequest('keyHash', null);
  app.addHook('onRoute', ({ url, config }) => {
    if (url.startsWith('/v1') && config?.access === undefined) {
      throw new TypeError(`expected the route ${url} to say who may call it`);
    }
  });
  const limiters = createLimiters(app, settings);

  async function identify(request: FastifyRequest, reply: FastifyReply): Promise<PrincipalRow> {
    const key = readBearer(request.headers.authorization);
    if (key === null) {
      await limiters.countStranger(request, reply);
      const got = request.headers.authorization === undefined ? 'none' : 'another form';
      const expected = `expected a header Authorization: Bearer kvx_…, got ${got}`;
      throw refuse(reply, 'API_KEY_MISSING', expected);
    }
    const keyHash = hashOfKey(key);
    request.keyHash = keyHash;
    const known = principals.recall(keyHash);
    if (known !== undefined) return known;
    // Guesses cost the database a look-up each, so who guessed too often is not even looked up.
    await limiters.checkStranger(request, reply);
    const found = await principals.find(keyHash);
    if (found !== null) return found;
    await limiters.countStranger(request, reply);
    throw refuse(reply, 'API_KEY_UNKNOWN', 'expected a key that is in use, got another');
  }

  app.addHook('onRequest', async (request, reply) => {
    const { access = 'open' } = request.routeOptions.config;
    if (access === 'health') return;
    if (access === 'local_or_operator' && isLocal(request)) return;
    if (access === 'open') return limiters.countStranger(request, reply);
    const principal = await identify(request, reply);
    request.principal = principal;
    await limiters.countPrincipal(request, reply);
    const needed = access === 'local_or_operator' ? (['operator'] as const) : access;
    if (needed === 'any_key' || needed.some((role) => principal.roles.includes(role))) return;
    throw roleMissing(needed);
  });
}

/** The caller of a route that needs a key. */
export function principalOf(request: FastifyRequest): PrincipalRow {
  if (request.principal === null) throw new TypeError('expected a route that needs a key');
  return request.principal;
}

export function roleMissing(needed: readonly Role[]): Error {
  return createApiError('API_ROLE_MISSING', {
    message: `expected a key with the role ${needed.join(' or ')}, got one without`,
    fix: 'ask the operator for a key with that role',
  });
}

/** A proxy on the same machine speaks for others, which it says in a header. */
function isLocal({ ip, headers }: FastifyRequest): boolean {
  if (headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined) return false;
  return ip === '::1' || /^(::ffff:)?127\./.test(ip);
}

function refuse(
  reply: FastifyReply,
  code: 'API_KEY_MISSING' | 'API_KEY_UNKNOWN',
  message: string,
): Error {
  reply.header('www-authenticate', 'Bearer realm="kervyxa"');
  return createApiError(code, {
    message,
    fix: 'send the whole key that the operator gave you',
  });
}

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Api } from '../context.ts';
import { createApiError } from '../errors.ts';
import type { ApiSettings } from '../settings.ts';

/** All throw API_RATE_EXCEEDED, with the standard headers. */
export interface Limiters {
  countPrincipal(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** By address. */
  countStranger(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** The same without counting. */
  checkStranger(request: FastifyRequest, reply: FastifyReply): Promise<void>;
}

/** Needs @fastify/rate-limit to be registered. */
export function createLimiters(
  app: Api,
  { rateWindowMs, requestsPerWindowMax, strangerRequestsPerWindowMax }: ApiSettings,
): Limiters {
  const principals = app.createRateLimit({
    max: requestsPerWindowMax,
    timeWindow: rateWindowMs,
    keyGenerator: (request: FastifyRequest) => request.principal?.id ?? '',
  });
  const strangers = app.createRateLimit({
    max: strangerRequestsPerWindowMax,
    timeWindow: rateWindowMs,
  });
  return {
    countPrincipal: async (request, reply) => hold(await principals(request), reply),
    countStranger: async (request, reply) => hold(await strangers(request), reply),
    checkStranger: async (request, reply) => {
      const state = await strangers(request, { increment: false });
      if (!state.isAllowed && state.remaining === 0) exceed(state.ttlInSeconds, reply);
    },
  };
}

type LimitState = Awaited<ReturnType<ReturnType<Api['createRateLimit']>>>;

function hold(state: LimitState, reply: FastifyReply): void {
  if (state.isAllowed) return;
  reply.header('ratelimit-limit', state.max);
  reply.header('ratelimit-remaining', state.remaining);
  reply.header('ratelimit-reset', state.ttlInSeconds);
  if (state.isExceeded) exceed(state.ttlInSeconds, reply);
}

function exceed(seconds: number, reply: FastifyReply): never {
  reply.header('retry-after', seconds);
  throw createApiError('API_RATE_EXCEEDED', {
    message: `expected fewer requests, got more than the operator allows in a time`,
    fix: `wait ${seconds} seconds`,
  });
}

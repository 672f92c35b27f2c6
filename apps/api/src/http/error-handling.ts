import { isAppError, toPrintable } from '@kervyxa/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Socket } from 'node:net';
import type { Api } from '../context.ts';
import { createApiError } from '../errors.ts';
import { PROBLEM_TYPE, toProblem } from './problem.ts';

/** Every error leaves as problem+json, those of the HTTP parser and of unknown paths too. */
export function registerErrorHandling(app: Api): void {
  app.setErrorHandler((error, request, reply) => sendProblem(error, request, reply));
  app.setNotFoundHandler((request, reply) =>
    sendProblem(
      createApiError('API_ROUTE_UNKNOWN', {
        message: `expected a documented path, got ${toPrintable(request.url, 200)}`,
        fix: 'see /docs for all paths',
      }),
      request,
      reply,
    ),
  );
}

export function sendProblem(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const problem = toProblem(error, request.id);
  if (problem.status >= 500) request.log.error({ err: error, code: problem.code }, 'failed');
  // What was not read of the body would be taken for the next request, or would have to be read to no end.
  if (!request.raw.complete) reply.header('connection', 'close');
  if (isAppError(error) && error.traits.retryable && !reply.hasHeader('retry-after')) {
    reply.header('retry-after', '1');
  }
  return (
    reply
      .code(problem.status)
      .header('content-type', PROBLEM_TYPE)
      // The hooks that set it for the others have not run where the path can't be read.
      .header('x-request-id', request.id)
      .serializer(asIs)
      .send(JSON.stringify(problem))
  );
}

function asIs(text: unknown): string {
  return String(text);
}

/** Answers what is no request: there is no route, hook or reply yet, only the socket. */
export function answerParserError(error: Error & { code?: string }, socket: Socket): void {
  if (socket.destroyed || !socket.writable) return;
  const problem = toProblem(toParserProblem(error.code), '');
  const body = JSON.stringify(problem);
  socket.end(
    `HTTP/1.1 ${problem.status} Refused\r\ncontent-type: ${PROBLEM_TYPE}\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}

function toParserProblem(code: string | undefined): Error {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return createApiError('API_HEADERS_TOO_LARGE', {
      message: 'expected smaller headers',
      fix: 'send fewer and shorter headers',
    });
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return createApiError('API_REQUEST_TIMEOUT', {
      message: 'expected the whole request sooner',
      fix: 'send the request again, faster',
    });
  }
  return createApiError('API_REQUEST_MALFORMED', {
    message: 'expected an HTTP/1.1 request, got something else',
    fix: 'send well-formed HTTP',
  });
}

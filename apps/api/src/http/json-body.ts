import { readContractText } from '@kervyxa/contract';
import { isAppError } from '@kervyxa/core';
import type { Api } from '../context.ts';
import { createApiError } from '../errors.ts';

/**
 * The one reader of JSON bodies: UTF-8, every key once, bounded depth. An empty body is none at all, which the routes
 * without input take.
 */
export function registerJsonBody(app: Api): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, bytes, done) => {
    if (bytes.length === 0) return done(null, undefined);
    try {
      return done(null, readContractText(Buffer.from(bytes), 'json').document);
    } catch (error) {
      const isContract = request.routeOptions.config.takesContract === true;
      return done(isContract ? toError(error) : notJson(error));
    }
  });
}

function notJson(cause: unknown): Error {
  if (!isAppError(cause)) return toError(cause);
  return createApiError('API_BODY_NOT_JSON', {
    message: cause.message,
    fix: 'send one JSON object, as /docs shows it',
    cause,
    details: cause.details,
  });
}

function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new TypeError('expected an error', { cause: thrown });
}

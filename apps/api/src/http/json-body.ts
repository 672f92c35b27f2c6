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
      const whole = Buffer.from(bytes);
      return done(null, readFlat(whole) ?? readContractText(whole, 'json').document);
    } catch (error) {
      const isContract = request.routeOptions.config.takesContract === true;
      return done(isContract ? toError(error) : notJson(error));
    }
  });
}

/** An object without others in it; most bodies are one. */
const FLAT = /^\{[^{[]*\}$/;

/**
 * A flat object as programs print it: printed again it gives the same text, so it had no key twice, and nothing in it
 * was rounded. Undefined for any other text, which takes the careful reader ten times as long.
 */
function readFlat(bytes: Buffer): unknown {
  const text = bytes.toString('utf8');
  if (!FLAT.test(text) || text.includes('__proto__')) return undefined;
  try {
    const read: unknown = JSON.parse(text);
    return JSON.stringify(read) === text ? read : undefined;
  } catch {
    return undefined;
  }
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

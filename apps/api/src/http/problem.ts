import { type AppError, isAppError, toPrintable } from '@kervyxa/core';
import type { FastifyError } from 'fastify';
import { z } from 'zod';
import { API_ERRORS, createApiError, typeRefused, type ApiErrorCode } from '../errors.ts';

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

/** RFC 9457, with the stable code, the way out, and every place that is wrong. */
export const ProblemView = z.strictObject({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  code: z.string().describe('Stable for ever; the README lists all.'),
  detail: z.string(),
  fix: z.string().optional(),
  instance: z.string().describe('The id of the request, which the log of the server has too.'),
  errors: z
    .array(z.strictObject({ pointer: z.string(), message: z.string() }))
    .optional()
    .describe('JSON Pointers into body, query or path.'),
  details: z.record(z.string(), z.unknown()).optional(),
});
export type Problem = z.infer<typeof ProblemView>;

type Place = NonNullable<Problem['errors']>[number];

/** What a client is told of an error. Of ours it learns nothing of the insides; the log does. */
export function toProblem(thrown: unknown, requestId: string): Problem {
  const { error, errors } = toAppError(thrown);
  const { httpStatus, meaning } = error.traits;
  const isOurs = error.traits.fault !== 'caller';
  const fix = isOurs ? fixOfOurs(error) : error.fix;
  return {
    type: `urn:kervyxa:problem:${error.code}`,
    title: meaning,
    status: httpStatus,
    code: error.code,
    detail: isOurs ? meaning : error.message,
    ...(fix !== undefined && { fix }),
    instance: requestId,
    ...(errors.length > 0 && { errors }),
    ...(!isOurs && Object.keys(error.details).length > 0 && { details: toJson(error.details) }),
  };
}

function fixOfOurs({ traits }: AppError): string {
  return traits.retryable
    ? 'try again in a while, with the same Idempotency-Key'
    : 'tell the operator the instance of this answer';
}

function toAppError(thrown: unknown): { error: AppError; errors: Place[] } {
  if (isAppError(thrown)) return { error: thrown, errors: [] };
  if (!isFastifyError(thrown)) return { error: internal(thrown), errors: [] };
  if (thrown.validation !== undefined) return toInvalid(thrown);
  const code = codeOfStatus(thrown.statusCode);
  if (code === null) return { error: internal(thrown), errors: [] };
  if (code === 'API_MEDIA_TYPE_UNSUPPORTED') return { error: typeRefused(), errors: [] };
  const error = createApiError(code, {
    message: toPrintable(thrown.message, 300),
    fix: FIXES[code] ?? 'see /docs for what this path takes',
    cause: thrown,
  });
  return { error, errors: [] };
}

function isFastifyError(thrown: unknown): thrown is FastifyError {
  return thrown instanceof Error && 'code' in thrown && 'statusCode' in thrown;
}

const PARTS: Readonly<Record<string, string>> = {
  body: 'body',
  querystring: 'query',
  params: 'path',
  headers: 'headers',
};

function toInvalid({ validation = [], validationContext }: FastifyError) {
  const part = PARTS[validationContext ?? 'body'] ?? 'request';
  const errors = validation.map(({ instancePath, message }) => ({
    pointer: toPrintable(instancePath === '/' ? '' : instancePath, 300),
    message: toPrintable(message ?? '', 500),
  }));
  return { error: invalidRequest(part, errors.length), errors };
}

/** The error for a part of a request that is not as documented. */
export function invalidRequest(part: string, problemCount = 1): AppError {
  return createApiError('API_REQUEST_INVALID', {
    message: `expected the ${part} as documented, got ${problemCount === 1 ? 'a problem' : `${problemCount} problems`}`,
    fix: 'correct what `errors` lists; /docs shows the form',
  });
}

const FIXES: Readonly<Partial<Record<ApiErrorCode, string>>> = {
  API_BODY_TOO_LARGE: 'send less; large data belongs into the repository or the hidden package',
  API_REQUEST_MALFORMED: 'send well-formed HTTP',
};

function codeOfStatus(status: number | undefined): ApiErrorCode | null {
  switch (status) {
    case 400:
      return 'API_REQUEST_MALFORMED';
    case 404:
      return 'API_ROUTE_UNKNOWN';
    case 405:
      return 'API_METHOD_NOT_ALLOWED';
    case 408:
      return 'API_REQUEST_TIMEOUT';
    case 413:
      return 'API_BODY_TOO_LARGE';
    case 414:
      return 'API_REQUEST_MALFORMED';
    case 415:
      return 'API_MEDIA_TYPE_UNSUPPORTED';
    case 431:
      return 'API_HEADERS_TOO_LARGE';
    case 503:
      return 'API_BUSY';
    default:
      return null;
  }
}

function internal(cause: unknown): AppError {
  return createApiError('API_INTERNAL', { message: API_ERRORS.API_INTERNAL.meaning, cause });
}

/** Amounts are bigint inside and decimal strings outside. */
function toJson(details: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return JSON.parse(
    JSON.stringify(details, (_key, value: unknown) =>
      typeof value === 'bigint' ? value.toString() : value,
    ),
  );
}

import { type AppError, defineErrors, type ErrorTraits } from '@kervyxa/core';

const CALLER = { fault: 'caller', retryable: false, exitCode: 2 } as const;

const { table, create } = defineErrors({
  API_KEY_MISSING: {
    ...CALLER,
    httpStatus: 401,
    meaning: 'The request has no Authorization header of the form Bearer kvx_….',
  },
  API_KEY_UNKNOWN: {
    ...CALLER,
    httpStatus: 401,
    meaning: 'The API key is unknown or revoked, or its owner is disabled.',
  },
  API_ROLE_MISSING: {
    ...CALLER,
    httpStatus: 403,
    meaning: 'The owner of the key lacks the role that the request needs.',
  },
  API_NOT_OWNER: {
    ...CALLER,
    httpStatus: 403,
    meaning: 'Only the owner of the contract or problem may do that.',
  },
  API_ARBITER_NOT_APART: {
    ...CALLER,
    httpStatus: 403,
    meaning: 'The arbiter has the role of a solver or challenger, too, and so does not see enough.',
  },
  API_NOT_FOUND: {
    ...CALLER,
    httpStatus: 404,
    meaning: 'There is no such thing, or it is not for the owner of the key to see.',
  },
  API_ROUTE_UNKNOWN: { ...CALLER, httpStatus: 404, meaning: 'There is nothing at this path.' },
  API_METHOD_NOT_ALLOWED: {
    ...CALLER,
    httpStatus: 405,
    meaning: 'The path does not take this method.',
  },
  API_REQUEST_MALFORMED: {
    ...CALLER,
    httpStatus: 400,
    meaning: 'The request is no HTTP that can be read.',
  },
  API_REQUEST_TIMEOUT: {
    ...CALLER,
    retryable: true,
    httpStatus: 408,
    meaning: 'The request did not arrive whole in time.',
  },
  API_HEADERS_TOO_LARGE: {
    ...CALLER,
    httpStatus: 431,
    meaning: 'The headers of the request are larger than is allowed.',
  },
  API_REQUEST_INVALID: {
    ...CALLER,
    httpStatus: 422,
    meaning: 'Body, query, path or a header of the request is not of the documented form.',
  },
  API_BODY_NOT_JSON: {
    ...CALLER,
    httpStatus: 400,
    meaning: 'The body is not JSON, nests too deep or has a key twice.',
  },
  API_BODY_TOO_LARGE: {
    ...CALLER,
    httpStatus: 413,
    meaning: 'The body has more bytes than are allowed.',
  },
  API_BODY_BROKEN_OFF: {
    ...CALLER,
    retryable: true,
    httpStatus: 400,
    meaning: 'The body ended before it was whole.',
  },
  API_MEDIA_TYPE_UNSUPPORTED: {
    ...CALLER,
    httpStatus: 415,
    meaning: 'The body is of a type that the request does not take.',
  },
  API_CONTRACT_REFUSED: {
    ...CALLER,
    httpStatus: 422,
    meaning: 'The form of the contract is refused; every finding is listed.',
  },
  API_PACKAGE_UNKNOWN: {
    ...CALLER,
    httpStatus: 422,
    meaning: 'The request or contract names a package or bundle that the caller has not uploaded.',
  },
  API_FILE_UNKNOWN: {
    ...CALLER,
    httpStatus: 422,
    meaning: 'The package has no regular file at the path that the request names.',
  },
  API_SIGNATURE_REFUSED: {
    ...CALLER,
    httpStatus: 403,
    meaning: 'A report is not signed by a registered key that is in use, or says something else.',
  },
  API_CHECKER_REFUSED: {
    ...CALLER,
    httpStatus: 422,
    meaning: 'The package is no checker package that can be published; every finding is listed.',
  },
  API_REPOSITORY_URL_REFUSED: {
    ...CALLER,
    httpStatus: 422,
    meaning: 'The repository of a submission is not a plain public https URL.',
  },
  API_RATE_EXCEEDED: {
    ...CALLER,
    retryable: true,
    httpStatus: 429,
    meaning: 'More requests than the operator allows in a time.',
  },
  API_WATCHERS_EXCEEDED: {
    ...CALLER,
    retryable: true,
    httpStatus: 429,
    meaning: 'More open event streams than the operator allows.',
  },
  API_BUSY: {
    ...CALLER,
    retryable: true,
    httpStatus: 503,
    meaning: 'Too much work of the kind at once, such as uploads, or shutting down.',
  },
  API_INTERNAL: {
    fault: 'bug',
    retryable: false,
    httpStatus: 500,
    exitCode: 70,
    meaning: 'A defect of the server; its log has the request id.',
  },
} satisfies Record<`API_${string}`, ErrorTraits>);

export type ApiErrorCode = keyof typeof table;
export const API_ERRORS = table;
export const createApiError = create;

/** The answer for what is not there and for what is not the caller's to see: one must not be told from the other. */
export function notFound(what: string): Error {
  return createApiError('API_NOT_FOUND', {
    message: `expected ${/^[aeiou]/.test(what) ? 'an' : 'a'} ${what} that this key may see, got none`,
    fix: 'check the id, and whether the key belongs to somebody who may see it',
  });
}

export function typeRefused(): AppError {
  return createApiError('API_MEDIA_TYPE_UNSUPPORTED', {
    message: 'expected a body of the type that the path takes, got another or none',
    fix: 'send the header Content-Type: application/json, or application/x-tar for a package',
  });
}

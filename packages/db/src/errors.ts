import { defineErrors } from '@kervyxa/core';

const { table, create } = defineErrors({
  DB_UNAVAILABLE: {
    fault: 'infra',
    retryable: true,
    httpStatus: 503,
    exitCode: 4,
    meaning: 'The database can’t be reached, is busy, or refuses the login.',
  },
  DB_URL_INVALID: {
    fault: 'caller',
    retryable: false,
    httpStatus: 500,
    exitCode: 2,
    meaning: 'DATABASE_URL is not the address of a PostgreSQL database.',
  },
  DB_SCHEMA_UNKNOWN: {
    fault: 'caller',
    retryable: false,
    httpStatus: 503,
    exitCode: 4,
    meaning: 'The tables of the database were made by a newer or another version of the program.',
  },
  DB_MIGRATION_FAILED: {
    fault: 'infra',
    retryable: false,
    httpStatus: 503,
    exitCode: 4,
    meaning: 'A change of the tables was begun and did not succeed.',
  },
  DB_EMBEDDED_UNSUPPORTED: {
    fault: 'caller',
    retryable: false,
    httpStatus: 503,
    exitCode: 4,
    meaning: 'There is no built-in PostgreSQL for this machine, or its folder can’t hold one.',
  },
  DB_EMBEDDED_VERSION: {
    fault: 'caller',
    retryable: false,
    httpStatus: 503,
    exitCode: 4,
    meaning: 'The data folder was written by another major version of PostgreSQL.',
  },
  DB_EMBEDDED_DISK_FULL: {
    fault: 'infra',
    retryable: true,
    httpStatus: 503,
    exitCode: 4,
    meaning: 'The built-in PostgreSQL has no room left in its folder.',
  },
  DB_EMBEDDED_FAILED: {
    fault: 'infra',
    retryable: true,
    httpStatus: 503,
    exitCode: 4,
    meaning: 'The built-in PostgreSQL did not start or stop as it should.',
  },
  DB_IDEMPOTENCY_CONFLICT: {
    fault: 'caller',
    retryable: false,
    httpStatus: 409,
    exitCode: 2,
    meaning: 'The Idempotency-Key was used for another request.',
  },
  DB_CONTRACT_DUPLICATE: {
    fault: 'caller',
    retryable: false,
    httpStatus: 409,
    exitCode: 2,
    meaning: 'The requester has the same contract already, and it has not ended.',
  },
  DB_SUBMISSION_DUPLICATE: {
    fault: 'caller',
    retryable: false,
    httpStatus: 409,
    exitCode: 2,
    meaning: 'The solver has submitted this commit to the contract already.',
  },
  DB_SOLVER_NOT_INVITED: {
    fault: 'caller',
    retryable: false,
    httpStatus: 403,
    exitCode: 2,
    meaning: 'The contract takes submissions of invited solvers only.',
  },
  DB_PRINCIPAL_UNKNOWN: {
    fault: 'caller',
    retryable: false,
    httpStatus: 404,
    exitCode: 2,
    meaning: 'There is no principal with this id.',
  },
  DB_PRINCIPAL_DUPLICATE: {
    fault: 'caller',
    retryable: false,
    httpStatus: 409,
    exitCode: 2,
    meaning: 'A principal has this name or this key already.',
  },
  DB_PAYOUT_NOT_HELD: {
    fault: 'caller',
    retryable: false,
    httpStatus: 409,
    exitCode: 2,
    meaning: 'There is no payout with this id that is held.',
  },
  DB_BLOB_TOO_LARGE: {
    fault: 'caller',
    retryable: false,
    httpStatus: 413,
    exitCode: 2,
    meaning: 'The bytes to be kept are more than are allowed.',
  },
  DB_BLOB_DAMAGED: {
    fault: 'infra',
    retryable: false,
    httpStatus: 500,
    exitCode: 4,
    meaning: 'Kept bytes are not those that their digest names.',
  },
  DB_CURSOR_INVALID: {
    fault: 'caller',
    retryable: false,
    httpStatus: 400,
    exitCode: 2,
    meaning: 'The cursor was not given out by this list.',
  },
});

export type DbErrorCode = keyof typeof table;
export const DB_ERRORS = table;
export const createDbError = create;

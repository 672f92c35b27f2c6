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
});

export type DbErrorCode = keyof typeof table;
export const DB_ERRORS = table;
export const createDbError = create;

import { defineErrors } from '@kervyxa/core';
import { STAGE_ERRORS } from './stages/stage-errors.ts';

const { table, create } = defineErrors({
  CHECKER_STAGE_UNKNOWN: {
    fault: 'caller',
    retryable: false,
    httpStatus: 422,
    exitCode: 2,
    meaning: 'The checker package has no sandbox stage of that key.',
  },
  CHECKER_REFERENCE_MISSING: {
    fault: 'caller',
    retryable: false,
    httpStatus: 422,
    exitCode: 2,
    meaning: 'A reference slot that a checker stage requires is bound to nothing.',
  },
  CHECKER_REFERENCE_TOO_LARGE: {
    fault: 'caller',
    retryable: false,
    httpStatus: 422,
    exitCode: 2,
    meaning: 'A reference slot is bound to more bytes than its contract allows.',
  },
  CHECKER_RUNTIME_UNBOUND: {
    fault: 'infra',
    retryable: true,
    httpStatus: 503,
    exitCode: 4,
    meaning: 'The runtime that runs a checker is bound to no image on this machine.',
  },
  CHECKER_INPUTS_CHANGED: {
    fault: 'infra',
    retryable: true,
    httpStatus: 503,
    exitCode: 4,
    meaning: 'What a checker reads was changed from outside while it ran, so it decides nothing.',
  },
  CHECKER_SCHEMA_UNCHECKED: {
    fault: 'infra',
    retryable: true,
    httpStatus: 503,
    exitCode: 4,
    meaning: 'The thread that checks values against JSON Schemas could not be started.',
  },
  CHECKER_CONTRACT_IMMUTABLE: {
    fault: 'caller',
    retryable: false,
    httpStatus: 409,
    exitCode: 2,
    meaning: 'A published checker contract would say something else than when it was published.',
  },
  CHECKER_VERSION_NOT_NEXT: {
    fault: 'caller',
    retryable: false,
    httpStatus: 409,
    exitCode: 2,
    meaning: 'A checker package says that it is another version than the one that comes next.',
  },
  CHECKER_VERIFIER_MISMATCH: {
    fault: 'caller',
    retryable: false,
    httpStatus: 409,
    exitCode: 2,
    meaning: 'A checker package says that it is of another family of contracts.',
  },
  ...STAGE_ERRORS,
});

export type CheckerErrorCode = keyof typeof table;
export const CHECKER_ERRORS = table;
export const checkerError = create;

import { defineErrors } from '@kervyxa/core';

const family = defineErrors({
  VERIFIER_PACKAGE_MISMATCH: {
    fault: 'caller',
    retryable: false,
    httpStatus: 422,
    exitCode: 2,
    meaning: 'The hidden package given is not the one that the contract froze.',
  },
  VERIFIER_DEPENDENCIES_MISMATCH: {
    fault: 'caller',
    retryable: false,
    httpStatus: 422,
    exitCode: 2,
    meaning: 'The dependency bundle given is not the one that the contract froze.',
  },
  VERIFIER_INPUTS_CHANGED: {
    fault: 'infra',
    retryable: true,
    httpStatus: 503,
    exitCode: 4,
    meaning: 'Checkout, package or dependencies were not the same after the runs as before them.',
  },
  VERIFIER_PROVING_BROKEN: {
    fault: 'infra',
    retryable: true,
    httpStatus: 503,
    exitCode: 4,
    meaning: 'Something of ours broke while a contract was proved, so there is no report.',
  },
});

export const VERIFIER_ERRORS = family.table;
export const verifierError = family.create;

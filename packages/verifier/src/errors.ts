import { defineErrors } from '@kervyxa/core';

export const verifierErrors = defineErrors({
  VERIFIER_PACKAGE_MISMATCH: {
    fault: 'caller',
    retryable: false,
    httpStatus: 422,
    exitCode: 2,
    meaning: 'The hidden package given is not the one that the contract froze.',
  },
});

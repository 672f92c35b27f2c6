import { defineErrors } from '@kervyxa/core';

const { table, create } = defineErrors({
  SETTLEMENT_FUNDS_INSUFFICIENT: {
    fault: 'caller',
    retryable: false,
    httpStatus: 402,
    exitCode: 2,
    meaning: 'An account has less than the transfer takes from it.',
  },
  SETTLEMENT_TRANSFER_CONFLICT: {
    fault: 'caller',
    retryable: false,
    httpStatus: 409,
    exitCode: 2,
    meaning: 'Other money was recorded for the same occasion before.',
  },
  SETTLEMENT_TRANSFER_INVALID: {
    fault: 'bug',
    retryable: false,
    httpStatus: 500,
    exitCode: 70,
    meaning: 'A defect of this program: a transfer that no ledger may record.',
  },
});

export const LEDGER_ERRORS = table;
export const createLedgerError = create;

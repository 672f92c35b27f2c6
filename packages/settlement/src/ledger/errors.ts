import { AMOUNT_MINOR_MAX, defineErrors } from '@kervyxa/core';

const { table, create } = defineErrors({
  SETTLEMENT_FUNDS_INSUFFICIENT: {
    fault: 'caller',
    retryable: false,
    httpStatus: 402,
    exitCode: 2,
    meaning: 'An account has less than the transfer takes from it.',
  },
  SETTLEMENT_LEDGER_FULL: {
    fault: 'caller',
    retryable: false,
    httpStatus: 409,
    exitCode: 2,
    meaning: 'All deposits of a currency together are more than 63 bits hold.',
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

/** `depositedMinor`: what came in from outside in all, with the deposit that is too much. */
export function createLedgerFull(currency: string, depositedMinor: bigint): Error {
  return create('SETTLEMENT_LEDGER_FULL', {
    message: `expected deposits of at most ${AMOUNT_MINOR_MAX} minor units of ${currency} in all, got ${depositedMinor}`,
    fix: 'Look for an amount with too many digits.',
  });
}

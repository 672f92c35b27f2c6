import { AMOUNT_MINOR_MAX, CurrencySchema } from '@kervyxa/core';
import { createLedgerError } from './errors.ts';
import type { PlannedTransfer } from './transfer.ts';

/** Throws SETTLEMENT_TRANSFER_INVALID for what no ledger may record. */
export function assertTransfer(transfer: PlannedTransfer): void {
  const { idempotencyKey, currency, postings } = transfer;
  if (idempotencyKey === '') throw invalid(transfer, 'expected an idempotency key, got none');
  if (!CurrencySchema.safeParse(currency).success)
    throw invalid(transfer, `expected a currency code, got ${JSON.stringify(currency)}`);
  if (postings.length === 0) throw invalid(transfer, 'expected at least one posting, got none');
  for (const { source, destination, amountMinor } of postings) {
    if (amountMinor <= 0n || amountMinor > AMOUNT_MINOR_MAX)
      throw invalid(
        transfer,
        `expected an amount from 1 to ${AMOUNT_MINOR_MAX}, got ${amountMinor}`,
      );
    if (source === destination || source === '' || destination === '')
      throw invalid(transfer, `expected two accounts, got "${source}" and "${destination}"`);
  }
}

function invalid(transfer: PlannedTransfer, message: string): Error {
  return createLedgerError('SETTLEMENT_TRANSFER_INVALID', {
    message,
    details: { kind: transfer.kind, idempotencyKey: transfer.idempotencyKey },
  });
}

import { AMOUNT_MINOR_MAX } from '@kervyxa/core';
import { mayOverdraw } from '../ledger/accounts.ts';
import { type Balance, toBalances } from '../ledger/balances.ts';
import { CHAIN_START, checkChain, inputHashOf, linkTransfer } from '../ledger/chain.ts';
import { createLedgerError, createLedgerFull } from '../ledger/errors.ts';
import type { PlannedTransfer, RecordedTransfer } from '../ledger/transfer.ts';

/** A ledger in memory. */
export interface FakeLedger {
  readonly transfers: readonly RecordedTransfer[];
  /**
   * Records all or none; what was recorded for its key before is not recorded again. Throws
   * SETTLEMENT_FUNDS_INSUFFICIENT, SETTLEMENT_LEDGER_FULL and SETTLEMENT_TRANSFER_CONFLICT.
   */
  record(planned: readonly PlannedTransfer[], recordedAt: Date): void;
  balances(): readonly Balance[];
  /** The first problem of the chain, or null. */
  check(): string | null;
}

export function createFakeLedger(): FakeLedger {
  let transfers: readonly RecordedTransfer[] = [];
  return {
    get transfers() {
      return transfers;
    },
    record: (planned, recordedAt) => {
      let next = transfers;
      for (const transfer of planned) next = append(next, transfer, recordedAt);
      transfers = next;
    },
    balances: () => toBalances(transfers),
    check: () => checkChain(transfers).problem,
  };
}

function append(
  transfers: readonly RecordedTransfer[],
  planned: PlannedTransfer,
  recordedAt: Date,
): readonly RecordedTransfer[] {
  const { idempotencyKey } = planned;
  const before = transfers.find((each) => each.idempotencyKey === idempotencyKey);
  if (before !== undefined) {
    if (before.inputHash === inputHashOf(planned)) return transfers;
    throw createLedgerError('SETTLEMENT_TRANSFER_CONFLICT', {
      message: `expected the transfer that was recorded for ${idempotencyKey}, got another one`,
      fix: 'Give other money a key or reference of its own.',
    });
  }
  const id = `tfr_${transfers.length + 1}`;
  const next = [
    ...transfers,
    linkTransfer(transfers.at(-1) ?? CHAIN_START, planned, { id, recordedAt }),
  ];
  const full = toBalances(next).find(({ balanceMinor }) => -balanceMinor > AMOUNT_MINOR_MAX);
  if (full !== undefined) throw createLedgerFull(full.currency, -full.balanceMinor);
  const sources = new Set(planned.postings.map(({ source }) => source));
  const short = toBalances(next).find(
    ({ account, balanceMinor }) =>
      sources.has(account) && balanceMinor < 0n && !mayOverdraw(account),
  );
  if (short === undefined) return next;
  throw createLedgerError('SETTLEMENT_FUNDS_INSUFFICIENT', {
    message: `expected ${-short.balanceMinor} minor units of ${short.currency} more in ${short.account}, got none`,
    fix: 'Have the operator record a deposit first.',
  });
}

import type { AppError } from '@kervyxa/core';
import type { ContractCase } from './case.ts';
import type { PlannedTransfer } from './ledger/transfer.ts';

/** Something that a store does in the same transaction besides saving the next case. */
export type Effect =
  | { readonly kind: 'transfer'; readonly transfer: PlannedTransfer }
  /** `delayMs` is the back-off before another try. */
  | { readonly kind: 'enqueue_run'; readonly runId: string; readonly delayMs: number }
  | { readonly kind: 'enqueue_capture'; readonly submissionId: string }
  /** Escrow has gone, once and for ever. */
  | { readonly kind: 'escrow_resolved'; readonly resolution: 'PAYOUT' | 'REFUND' }
  /** The payout of a webhook rail waits to be sent; the internal rail needs none. */
  | {
      readonly kind: 'payout_due';
      readonly payoutId: string;
      readonly submissionId: string;
      readonly solverId: string;
      readonly amountMinor: bigint;
      readonly currency: string;
    }
  /** For the record and the watchers. Small facts only: ids, states, reason codes, amounts as decimal strings. */
  | {
      readonly kind: 'event';
      readonly name: string;
      readonly submissionId: string | null;
      readonly challengeId: string | null;
      readonly data: Readonly<Record<string, string | number | boolean | null>>;
    };

export type Decision =
  /** `next` has the same entities as the case, changed or new; the store saves each that differs, compare-and-set. */
  | { readonly kind: 'accepted'; readonly next: ContractCase; readonly effects: readonly Effect[] }
  /** Nothing changes. */
  | { readonly kind: 'refused'; readonly error: AppError };

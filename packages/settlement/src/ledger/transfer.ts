/** One movement of money: from one account to another, so that it balances by itself. */
export interface Posting {
  /** Names made by `accounts.ts`, never typed by hand. Both are accounts of the transfer's currency. */
  readonly source: string;
  readonly destination: string;
  /** Positive. */
  readonly amountMinor: bigint;
}

/** A transfer that is yet to be recorded. Recorded once for its key, whoever asks again. */
export interface PlannedTransfer {
  readonly kind:
    | 'deposit'
    | 'escrow_funded'
    | 'escrow_refunded'
    | 'payout'
    | 'payout_confirmed'
    | 'bond_posted'
    | 'bond_returned'
    | 'bond_forfeited';
  /** Names the one occasion, such as `contract/con_…/resolution`. */
  readonly idempotencyKey: string;
  readonly currency: string;
  readonly postings: readonly [Posting, ...Posting[]];
}

/** A transfer as it was recorded: the next link of the chain. */
export interface RecordedTransfer extends PlannedTransfer {
  readonly id: string;
  /** 1, 2, 3, … without a gap. */
  readonly seq: bigint;
  /** Hash of kind, key, currency and postings: another input for a used key is refused. */
  readonly inputHash: string;
  /** Hash of the transfer before it; 64 zeros for the first. */
  readonly prevHash: string;
  readonly hash: string;
  readonly recordedAt: Date;
}

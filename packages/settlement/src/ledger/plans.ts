import {
  available,
  bond,
  escrow,
  outsideDeposits,
  outsidePayouts,
  payable,
  treasury,
} from './accounts.ts';
import { assertTransfer } from './check-transfer.ts';
import { createLedgerError } from './errors.ts';
import type { PlannedTransfer, Posting } from './transfer.ts';

const BPS_WHOLE = 10_000n;

interface Amount {
  readonly amountMinor: bigint;
  readonly currency: string;
}

/** Money that came in from outside. `reference` names the outside payment: it counts once. */
export function planDeposit(
  input: Amount & { readonly principalId: string; readonly reference: string },
): PlannedTransfer {
  const { principalId, currency, reference } = input;
  return plan('deposit', `deposit/${reference}`, input, [
    [outsideDeposits(currency), available(principalId, currency), input.amountMinor],
  ]);
}

interface Reward extends Amount {
  readonly contractId: string;
  readonly requesterId: string;
}

export function planEscrowFunding(reward: Reward): PlannedTransfer {
  const { contractId, requesterId, currency, amountMinor } = reward;
  return plan('escrow_funded', `contract/${contractId}/escrow`, reward, [
    [available(requesterId, currency), escrow(contractId), amountMinor],
  ]);
}

/** Shares its key with the payout: an escrow is resolved once, in one of the two ways. */
export function planRefund(reward: Reward): PlannedTransfer {
  const { contractId, requesterId, currency, amountMinor } = reward;
  return plan('escrow_refunded', `contract/${contractId}/resolution`, reward, [
    [escrow(contractId), available(requesterId, currency), amountMinor],
  ]);
}

/** The fee is rounded down, so that dust is the solver's. */
export function feeOf(rewardMinor: bigint, feeBps: number): bigint {
  return (rewardMinor * BigInt(feeBps)) / BPS_WHOLE;
}

/** From escrow, the net to the solver's balance or to the payable account of `payoutId`, the fee to the treasury. */
export function planPayout(
  input: Amount & {
    readonly contractId: string;
    readonly feeBps: number;
    readonly to: { readonly solverId: string } | { readonly payoutId: string };
  },
): PlannedTransfer {
  const { contractId, currency, amountMinor, feeBps, to } = input;
  const fee = feeOf(amountMinor, feeBps);
  const payee = 'payoutId' in to ? payable(to.payoutId) : available(to.solverId, currency);
  return plan('payout', `contract/${contractId}/resolution`, input, [
    [escrow(contractId), payee, amountMinor - fee],
    [escrow(contractId), treasury(currency), fee],
  ]);
}

/** The outside rail has taken the payout. */
export function planPayoutConfirmed(
  input: Amount & { readonly payoutId: string },
): PlannedTransfer {
  const { payoutId, currency, amountMinor } = input;
  return plan('payout_confirmed', `payout/${payoutId}/confirmed`, input, [
    [payable(payoutId), outsidePayouts(currency), amountMinor],
  ]);
}

interface Bond extends Amount {
  readonly challengeId: string;
  readonly challengerId: string;
}

export function planBond(input: Bond): PlannedTransfer {
  const { challengeId, challengerId, currency, amountMinor } = input;
  return plan('bond_posted', `challenge/${challengeId}/bond`, input, [
    [available(challengerId, currency), bond(challengeId), amountMinor],
  ]);
}

/** Shares its key with the forfeit: a bond goes one way. */
export function planBondReturn(input: Bond): PlannedTransfer {
  const { challengeId, challengerId, currency, amountMinor } = input;
  return plan('bond_returned', `challenge/${challengeId}/resolution`, input, [
    [bond(challengeId), available(challengerId, currency), amountMinor],
  ]);
}

/** Half to the solver, rounded down; the rest to the treasury. */
export function planBondForfeit(
  input: Amount & { readonly challengeId: string; readonly solverId: string },
): PlannedTransfer {
  const { challengeId, solverId, currency, amountMinor } = input;
  const half = amountMinor / 2n;
  return plan('bond_forfeited', `challenge/${challengeId}/resolution`, input, [
    [bond(challengeId), available(solverId, currency), half],
    [bond(challengeId), treasury(currency), amountMinor - half],
  ]);
}

/** Leaves out shares of zero, which are no postings. */
function plan(
  kind: PlannedTransfer['kind'],
  idempotencyKey: string,
  { currency, amountMinor }: Amount,
  shares: readonly (readonly [source: string, destination: string, amountMinor: bigint])[],
): PlannedTransfer {
  const [first, ...rest] = shares
    .map(([source, destination, share]): Posting => ({ source, destination, amountMinor: share }))
    .filter((posting) => posting.amountMinor !== 0n);
  if (first === undefined)
    throw createLedgerError('SETTLEMENT_TRANSFER_INVALID', {
      message: `expected a positive amount, got ${amountMinor}`,
      details: { kind, idempotencyKey },
    });
  const transfer: PlannedTransfer = { kind, idempotencyKey, currency, postings: [first, ...rest] };
  assertTransfer(transfer);
  return transfer;
}

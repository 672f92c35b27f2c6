/** What a principal can spend. */
export function available(principalId: string, currency: string): string {
  return `principal/${principalId}/${currency}`;
}

/** The reward of one contract, from its funding to its one resolution. */
export function escrow(contractId: string): string {
  return `escrow/${contractId}`;
}

/** The bond of one challenge, while it is open. */
export function bond(challengeId: string): string {
  return `bond/${challengeId}`;
}

/** Fees and the operator's share of forfeited bonds. */
export function treasury(currency: string): string {
  return `treasury/${currency}`;
}

/** A payout that waits for an outside rail. */
export function payable(payoutId: string): string {
  return `payable/${payoutId}`;
}

/** The outside world that deposits come from: its balance is what came in, below zero. */
export function outsideDeposits(currency: string): string {
  return `outside/deposits/${currency}`;
}

/** The outside world that payouts go to. */
export function outsidePayouts(currency: string): string {
  return `outside/payouts/${currency}`;
}

/** Only the outside world has no bottom. */
export function mayOverdraw(account: string): boolean {
  return account.startsWith('outside/');
}

import type { RecordedTransfer } from './transfer.ts';

export interface Balance {
  readonly account: string;
  readonly currency: string;
  readonly balanceMinor: bigint;
}

/** Every account that was ever posted to, by name; by currency the balances add up to zero. */
export function toBalances(
  transfers: Iterable<Pick<RecordedTransfer, 'currency' | 'postings'>>,
): readonly Balance[] {
  const balances = new Map<string, Balance>();
  const add = (account: string, currency: string, amountMinor: bigint): void => {
    const before = balances.get(account)?.balanceMinor ?? 0n;
    balances.set(account, { account, currency, balanceMinor: before + amountMinor });
  };
  for (const { currency, postings } of transfers) {
    for (const { source, destination, amountMinor } of postings) {
      add(source, currency, -amountMinor);
      add(destination, currency, amountMinor);
    }
  }
  return [...balances.values()].toSorted((a, b) => (a.account < b.account ? -1 : 1));
}

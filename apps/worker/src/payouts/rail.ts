import type { PayoutStore } from '@kervyxa/db';

export type DuePayout = Awaited<ReturnType<PayoutStore['takeDue']>>[number];

export type SendOutcome =
  | { readonly kind: 'accepted' }
  /** `problem`: one printable sentence for the operator. It says nothing about whether money moved. */
  | { readonly kind: 'failed'; readonly problem: string };

/**
 * What moves money outside. The same payout is sent again after any failure and after a crash, always with the same id
 * and bytes: the rail must pay an id once. Any number of sends may run side by side. `send` takes bounded time and
 * never throws for what the other side does.
 */
export interface PayoutRail {
  send(payout: DuePayout): Promise<SendOutcome>;
}

import type { PayoutStore } from '@kervyxa/db';
import type { Log } from '../scheduler/nudge.ts';

/** For where there is no rail: says how many payouts wait for one, whenever that has changed. It takes none. */
export function createWaitingWarning(
  payouts: Pick<PayoutStore, 'countDue'>,
  log: Log,
): () => Promise<void> {
  let told = 0;
  return async () => {
    const count = await payouts.countDue();
    if (count > 0 && count !== told) log.warn({ count }, 'payouts wait for KERVYXA_PAYOUT_URL');
    told = count;
  };
}

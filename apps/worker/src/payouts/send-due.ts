import type { PayoutStore } from '@kervyxa/db';
import type { Log } from '../scheduler/nudge.ts';
import type { DuePayout, PayoutRail } from './rail.ts';

const AT_ONCE = 8;
/** More than that are left to the next tick. */
const BATCHES_MAX = 50;
/** Well beyond the time a send may take, so that nobody else sends meanwhile. */
const LEASE_MS = 60_000;

/** A rail that is down for two hours is asked this often; then a person looks. */
const TRIES_MAX = 12;
const FIRST_DELAY_MS = 5_000;
const DELAY_MS_MAX = 3_600_000;

/** Sends what is due until nothing is, or the signal aborts; what is being sent is finished in any case. */
export async function sendDuePayouts(
  payouts: PayoutStore,
  rail: PayoutRail,
  { log, signal }: { readonly log: Log; readonly signal: AbortSignal },
): Promise<void> {
  for (let batch = 0; batch < BATCHES_MAX && !signal.aborted; batch += 1) {
    const due = await payouts.takeDue(AT_ONCE, LEASE_MS);
    if (due.length === 0) return;
    const sent = await Promise.allSettled(due.map((payout) => sendOne(payouts, rail, payout, log)));
    for (const result of sent) {
      if (result.status === 'rejected') throw result.reason;
    }
  }
}

/**
 * Sent first and recorded after: a crash between the two sends once more, under the same id. The other order could
 * lose a payout.
 */
async function sendOne(
  payouts: PayoutStore,
  rail: PayoutRail,
  payout: DuePayout,
  log: Log,
): Promise<void> {
  const { id: payoutId, contractId, tries } = payout;
  const outcome = await rail.send(payout);
  if (outcome.kind === 'accepted') {
    await payouts.confirm(payoutId);
    log.info({ payoutId, contractId }, 'payout accepted by the rail');
    return;
  }
  const { problem } = outcome;
  const retryInMs = nextDelay(tries);
  await payouts.fail(payoutId, problem, retryInMs);
  if (retryInMs === null) {
    log.error({ payoutId, contractId, problem }, 'payout HELD: an operator has to look');
  } else {
    log.warn({ payoutId, contractId, problem, retryInMs }, 'payout not accepted yet');
  }
}

/** Milliseconds until the next try of a payout that has now failed once more; null after the last one. */
export function nextDelay(triesBefore: number): number | null {
  if (triesBefore + 1 >= TRIES_MAX) return null;
  return Math.min(FIRST_DELAY_MS * 2 ** triesBefore, DELAY_MS_MAX);
}

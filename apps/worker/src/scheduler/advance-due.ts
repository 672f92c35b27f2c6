import type { CaseStore } from '@kervyxa/settlement';
import type { Log } from './nudge.ts';

const BATCH = 50;
/** More than that are left to the next tick. */
const CONTRACTS_MAX = 1_000;

/**
 * Whatever time alone brings: captures, holds and arbitration that ran out, settlement, expiry. Each contract is asked
 * once, so that one which can't be advanced holds up no other; `cases` decides by the database's time whether anything
 * is due, so that nobody has to be sure before asking.
 */
export async function advanceDue(
  cases: CaseStore,
  { log, signal }: { readonly log: Log; readonly signal: AbortSignal },
): Promise<void> {
  const asked = new Set<string>();
  while (asked.size < CONTRACTS_MAX) {
    const due = await cases.listDue(BATCH + asked.size);
    const next = due.filter((contractId) => !asked.has(contractId));
    if (next.length === 0) return;
    for (const contractId of next) {
      if (signal.aborted) return;
      asked.add(contractId);
      await advance(cases, contractId, log);
    }
  }
}

async function advance(cases: CaseStore, contractId: string, log: Log): Promise<void> {
  try {
    const decision = await cases.execute(contractId, { kind: 'advance' });
    if (decision.kind === 'refused') {
      log.warn({ contractId, code: decision.error.code }, 'advance refused');
      return;
    }
    for (const effect of decision.effects) {
      if (effect.kind !== 'event') continue;
      const { name, submissionId, challengeId, data } = effect;
      log.info({ contractId, submissionId, challengeId, ...data }, name);
    }
  } catch (error) {
    log.error({ contractId, err: error }, 'a contract could not be advanced');
  }
}

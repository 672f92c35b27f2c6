import type { CaseStore } from '@kervyxa/settlement';
import { askDue } from './ask-due.ts';
import type { Log } from './nudge.ts';

/**
 * Whatever time alone brings: captures, holds and arbitration that ran out, settlement, expiry. `cases` decides by the
 * database's time whether anything is due, so that nobody has to be sure before asking.
 */
export async function advanceDue(
  cases: CaseStore,
  { log, signal }: { readonly log: Log; readonly signal: AbortSignal },
): Promise<void> {
  const ask = (contractId: string) => advance(cases, contractId, log);
  await askDue({ listDue: (limit) => cases.listDue(limit), ask }, signal);
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

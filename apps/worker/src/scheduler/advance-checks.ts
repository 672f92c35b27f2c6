import type { CheckDecision } from '@kervyxa/checker';
import type { CheckerWork } from '@kervyxa/db';
import { askDue } from './ask-due.ts';
import type { Log } from './nudge.ts';

type Accepted = Extract<CheckDecision, { kind: 'accepted' }>;

interface DueChecks extends Pick<CheckerWork, 'listDueChecks'> {
  decideCheck(
    checkId: string,
    command: { readonly kind: 'advance' },
  ): Promise<Exclude<CheckDecision, Accepted> | Omit<Accepted, 'next'>>;
}

/** What time alone brings to checks: seats that go back, reviews that close, reports and holds that are waited for no longer. */
export async function advanceChecks(
  work: DueChecks,
  { log, signal }: { readonly log: Log; readonly signal: AbortSignal },
): Promise<void> {
  const ask = (checkId: string) => advance(work, checkId, log);
  await askDue({ listDue: (limit) => work.listDueChecks(limit), ask }, signal);
}

async function advance(
  work: Pick<DueChecks, 'decideCheck'>,
  checkId: string,
  log: Log,
): Promise<void> {
  try {
    const decision = await work.decideCheck(checkId, { kind: 'advance' });
    if (decision.kind === 'refused') {
      log.warn({ checkId, code: decision.error.code }, 'advance refused');
      return;
    }
    for (const effect of decision.effects) {
      if (effect.kind === 'event') log.info({ checkId, ...effect.data }, effect.name);
    }
  } catch (error) {
    log.error({ checkId, err: error }, 'a check could not be advanced');
  }
}

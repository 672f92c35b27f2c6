import type { InfraReason } from '@kervyxa/core';
import type { StageEnd } from '../run/stage-end.ts';
import type { CheckStage } from './check-case.ts';
import type { CheckCommand } from './check-command.ts';
import {
  type CheckDraft,
  currentStage,
  change,
  enqueue,
  finishStage,
  finishUnavailable,
  laterBy,
  move,
  type Refusal,
  refuseState,
  type StageVerdict,
} from './check-draft.ts';
import { checkerError } from '../errors.ts';

const RETRY_FIRST_MS = 5_000;
const RETRY_MAX_MS = 300_000;

type CommandOf<Kind extends CheckCommand['kind']> = Extract<CheckCommand, { kind: Kind }>;
type SandboxStage = Extract<CheckStage, { kind: 'sandbox' }>;

/** Also of a stage that runs already: that attempt was lost, and counts as a try. After the last one nothing is begun. */
export function start(draft: CheckDraft): Refusal {
  const { state, attempt, isRunning } = draft.check;
  if (state !== 'WAITING_SANDBOX') return refuseState(draft, 'waits for a worker');
  if (isRunning && !countTry(draft, 'WORKER_LOST')) return null;
  change(draft, { attempt: attempt + 1, isRunning: true });
  return null;
}

export function seal(draft: CheckDraft, { attempt, end, program }: CommandOf<'seal'>): Refusal {
  return during(draft, attempt, (stage) => {
    finishStage(draft, stage, {
      ...toVerdict(stage, end),
      decidedBy: { kind: 'program', ...program },
    });
  });
}

export function unavailable(
  draft: CheckDraft,
  { attempt, mechanism }: CommandOf<'unavailable'>,
): Refusal {
  return during(draft, attempt, (stage) => {
    finishUnavailable(draft, stage, mechanism);
  });
}

export function fail(draft: CheckDraft, { attempt, reason }: CommandOf<'fail'>): Refusal {
  return during(draft, attempt, () => {
    if (!countTry(draft, reason)) return;
    move(draft, 'WAITING_SANDBOX');
    enqueue(draft, retryDelayMs(draft.check.tries));
  });
}

/** False where that was the last: the check is HELD. */
function countTry(draft: CheckDraft, reason: InfraReason): boolean {
  const tries = draft.check.tries + 1;
  change(draft, { tries, lastFailure: reason, isRunning: false });
  if (tries < draft.policy.triesMax) return true;
  move(draft, 'HELD', { heldUntil: laterBy(draft, draft.policy.heldGraceMs) });
  return false;
}

export function release(draft: CheckDraft, { attempt }: CommandOf<'release'>): Refusal {
  return during(draft, attempt, () => {
    move(draft, 'WAITING_SANDBOX', { isRunning: false });
    enqueue(draft, 0);
  });
}

export function retry(draft: CheckDraft): Refusal {
  if (draft.check.state !== 'HELD') return refuseState(draft, 'is HELD');
  move(draft, 'WAITING_SANDBOX', { tries: 0, heldUntil: null });
  enqueue(draft, 0);
  return null;
}

/** Our trouble was not over in time: the reason says that it is ours. */
export function endHold(draft: CheckDraft): void {
  const stage = currentStage(draft);
  if (stage === undefined) return;
  finishUnavailable(draft, stage, 'a worker', draft.check.lastFailure ?? 'WORKER_LOST');
}

/** Doubles with every try, up to five minutes. */
function retryDelayMs(tries: number): number {
  return Math.min(RETRY_FIRST_MS * 2 ** (tries - 1), RETRY_MAX_MS);
}

/** A word on a run counts only from the attempt that runs. */
function during(draft: CheckDraft, attempt: number, act: (stage: SandboxStage) => void): Refusal {
  const { check } = draft;
  const stage = currentStage(draft);
  const runs = check.state === 'WAITING_SANDBOX' && check.isRunning && check.attempt === attempt;
  if (!runs || stage?.kind !== 'sandbox')
    return checkerError('CHECKER_ATTEMPT_STALE', {
      message: `expected check ${check.id} to be in attempt ${attempt}, got ${check.state}, attempt ${check.attempt}`,
    });
  act(stage);
  return null;
}

function toVerdict(stage: SandboxStage, end: StageEnd): Omit<StageVerdict, 'decidedBy'> {
  switch (end.kind) {
    case 'verified': {
      const score = stage.resultKind === 'score' ? end.score : null;
      return { outcome: 'verified', message: end.reason, score, evidence: end.evidence ?? null };
    }
    case 'refuted':
    case 'inconclusive':
      return { outcome: end.kind, message: end.reason, evidence: end.evidence ?? null };
    case 'unmet':
      return { outcome: 'inconclusive', reason: 'REQUIREMENTS_UNMET', message: end.message };
    case 'broken':
      return {
        outcome: 'inconclusive',
        reason: 'VERIFIER_BROKEN',
        broken: end.code,
        message: `${end.code}: ${end.message}`,
      };
  }
}

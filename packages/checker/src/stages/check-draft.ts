import type { AppError, ReasonCode } from '@kervyxa/core';
import { checkerError } from '../errors.ts';
import type { CheckCase, CheckStage, CheckState, StageResult } from './check-case.ts';
import type { CheckEffect } from './decision.ts';
import type { StagePolicy } from './policy.ts';
import type { ProblemCase } from './problem-case.ts';
import { isNominated, reviewOpensAt } from './sealed.ts';

export interface CheckContext {
  /** The database's time, read under the check's lock. */
  readonly now: Date;
  readonly policy: StagePolicy;
  /** The check's problem, read in the same transaction. */
  readonly problem: ProblemCase;
}

/** Why a command is not done, or null. */
export type Refusal = AppError | null;

/** From each state, the states that may follow. What is not here never happens. */
export const CHECK_TRANSITIONS: Readonly<Record<CheckState, readonly CheckState[]>> = {
  WAITING_SANDBOX: [
    'WAITING_SANDBOX',
    'WAITING_REVIEW',
    'WAITING_EXTERNAL',
    'HELD',
    'VERIFIED',
    'REFUTED',
    'INCONCLUSIVE',
  ],
  WAITING_REVIEW: [
    'WAITING_SANDBOX',
    'WAITING_REVIEW',
    'WAITING_EXTERNAL',
    'VERIFIED',
    'REFUTED',
    'INCONCLUSIVE',
  ],
  WAITING_EXTERNAL: [
    'WAITING_SANDBOX',
    'WAITING_REVIEW',
    'WAITING_EXTERNAL',
    'VERIFIED',
    'REFUTED',
    'INCONCLUSIVE',
  ],
  HELD: ['WAITING_SANDBOX', 'INCONCLUSIVE'],
  VERIFIED: [],
  REFUTED: [],
  INCONCLUSIVE: [],
};

/** A check on its way to the next one. The only thing that changes in here, and only by the functions of this file. */
export interface CheckDraft extends CheckContext {
  check: CheckCase;
  readonly effects: CheckEffect[];
}

export function openDraft(check: CheckCase, context: CheckContext): CheckDraft {
  return { ...context, check, effects: [] };
}

/** The stage that is waited for; undefined where the check has ended. */
export function currentStage({ check }: Pick<CheckDraft, 'check'>): CheckStage | undefined {
  return check.endedAt === null ? check.stages[check.results.length] : undefined;
}

export function change(draft: CheckDraft, fields: Partial<CheckCase>): void {
  draft.check = { ...draft.check, ...fields };
}

export function move(draft: CheckDraft, to: CheckState, fields: Partial<CheckCase> = {}): void {
  const { id, state } = draft.check;
  if (!CHECK_TRANSITIONS[state].includes(to))
    throw checkerError('CHECKER_TRANSITION_ILLEGAL', {
      message: `expected check ${id} to go from ${state} to ${CHECK_TRANSITIONS[state].join(' or ') || 'nothing'}, got ${to}`,
    });
  change(draft, { ...fields, state: to });
  addEvent(draft, `check_${to.toLowerCase()}`, { stage: currentStage(draft)?.key ?? null });
}

/** What decided about the current stage. */
export type StageVerdict = Pick<StageResult, 'outcome' | 'decidedBy'> &
  Partial<Omit<StageResult, 'stage' | 'kind' | 'startedAt' | 'decidedAt'>>;

/** Why, where whoever decided has no other reason. */
const REASONS = {
  verified: null,
  refuted: 'REFUTED',
  inconclusive: 'CHECK_INCONCLUSIVE',
} as const satisfies Record<StageResult['outcome'], ReasonCode | null>;

/** Records the current stage's result, and goes on to the next or to an end. */
export function finishStage(draft: CheckDraft, stage: CheckStage, verdict: StageVerdict): void {
  const now = draft.now.toISOString();
  const result: StageResult = {
    reason: REASONS[verdict.outcome],
    broken: null,
    message: null,
    mechanism: null,
    score: null,
    evidence: null,
    finding: null,
    seats: [],
    ...verdict,
    stage: stage.key,
    kind: stage.kind,
    startedAt: draft.check.stageSince,
    decidedAt: now,
  };
  change(draft, {
    results: [...draft.check.results, result],
    isRunning: false,
    heldUntil: null,
    review: null,
    reportBy: null,
  });
  addEvent(draft, 'stage_decided', { stage: stage.key, outcome: result.outcome });
  if (result.outcome !== 'verified') endCheck(draft, result.outcome);
  else enterStage(draft);
}

/** The stage after those that are decided begins; after the last, the check is verified. */
export function enterStage(draft: CheckDraft): void {
  const stage = currentStage(draft);
  if (stage === undefined) {
    endCheck(draft, 'verified');
    return;
  }
  change(draft, { stageSince: draft.now.toISOString(), tries: 0, lastFailure: null });
  switch (stage.kind) {
    case 'sandbox':
      move(draft, 'WAITING_SANDBOX');
      enqueue(draft, 0);
      return;
    case 'review':
      enterReview(draft, stage);
      return;
    case 'external':
      move(draft, 'WAITING_EXTERNAL', { reportBy: laterBy(draft, draft.policy.reportGraceMs) });
  }
}

function enterReview(draft: CheckDraft, stage: Extract<CheckStage, { kind: 'review' }>): void {
  const { protocol, protocolId } = stage;
  if (protocol === null) {
    finishUnavailable(draft, stage, `review protocol ${protocolId}`);
    return;
  }
  const opensAt = Math.max(draft.now.getTime(), reviewOpensAt(draft.problem)?.getTime() ?? 0);
  const closesAt = opensAt + protocol.deadline_seconds * 1_000;
  const isOpen = opensAt <= draft.now.getTime();
  // The stages before it may have taken until after the cutoff.
  if (isOpen && !isNominated(draft.problem, draft.check)) {
    finishUnnominated(draft, stage);
    return;
  }
  move(draft, 'WAITING_REVIEW', {
    review: {
      isOpen,
      opensAt: new Date(opensAt).toISOString(),
      closesAt: new Date(closesAt).toISOString(),
      seats: [],
      claims: [],
    },
  });
}

/** What should have decided is not here, or did not come in time. */
export function finishUnavailable(
  draft: CheckDraft,
  stage: CheckStage,
  mechanism: string,
  reason: ReasonCode = 'STAGE_UNAVAILABLE',
): void {
  finishStage(draft, stage, {
    outcome: 'inconclusive',
    reason,
    mechanism,
    message: `expected ${mechanism} to decide, got no decision`,
    decidedBy: { kind: 'nobody' },
  });
}

export function finishUnnominated(draft: CheckDraft, stage: CheckStage): void {
  finishUnavailable(draft, stage, 'a nomination of the entry');
}

function endCheck(draft: CheckDraft, outcome: StageResult['outcome']): void {
  const { id, results } = draft.check;
  const scored = results.findLast(({ score }) => score !== null);
  const isVerified = outcome === 'verified';
  const endedAt = draft.now.toISOString();
  const states = {
    verified: 'VERIFIED',
    refuted: 'REFUTED',
    inconclusive: 'INCONCLUSIVE',
  } as const;
  move(draft, states[outcome], { endedAt, score: isVerified ? (scored?.score ?? null) : null });
  draft.effects.push({ kind: 'check_ended', checkId: id });
}

export function enqueue(draft: CheckDraft, delayMs: number): void {
  draft.effects.push({ kind: 'enqueue_check', checkId: draft.check.id, delayMs });
}

export function addEvent(
  draft: CheckDraft,
  name: string,
  data: Extract<CheckEffect, { kind: 'event' }>['data'],
): void {
  draft.effects.push({ kind: 'event', name, data: { checkId: draft.check.id, ...data } });
}

export function laterBy({ now }: Pick<CheckContext, 'now'>, ms: number): string {
  return new Date(now.getTime() + ms).toISOString();
}

/** Half-open: at the time itself it is over. */
export function isOver({ now }: Pick<CheckContext, 'now'>, time: string): boolean {
  return Date.parse(time) <= now.getTime();
}

export function refuseState({ check }: CheckDraft, expected: string): AppError {
  return checkerError('CHECKER_CHECK_NOT_WAITING', {
    message: `expected a check that ${expected}, got ${check.state}`,
  });
}

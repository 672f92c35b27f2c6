import type { AppError, IdSource } from '@kervyxa/core';
import type {
  ChallengeCase,
  ChallengeState,
  ContractCase,
  ContractState,
  RunCase,
  RunState,
  SubmissionCase,
  SubmissionState,
} from './case.ts';
import type { Effect } from './decision.ts';
import { createSettlementError } from './errors.ts';
import type { PlannedTransfer } from './ledger/transfer.ts';
import type { SettlementPolicy } from './policy.ts';
import {
  CHALLENGE_TRANSITIONS,
  CONTRACT_TRANSITIONS,
  RUN_TRANSITIONS,
  SUBMISSION_TRANSITIONS,
  type Transitions,
} from './transitions.ts';

export interface DecideContext {
  /** The database's time, read under the contract's lock. */
  readonly now: Date;
  readonly newId: IdSource;
  readonly policy: SettlementPolicy;
}

/** Why a command is not done, or null. */
export type Refusal = AppError | null;

/** A case on its way to the next one. The only thing that changes in here, and only by the functions of this file. */
export interface Draft extends DecideContext {
  contract: ContractCase['contract'];
  /** In order of receipt. */
  submissions: readonly SubmissionCase[];
  runs: readonly RunCase[];
  challenges: readonly ChallengeCase[];
  readonly effects: Effect[];
}

export function openDraft(held: ContractCase, context: DecideContext): Draft {
  const { contract, runs, challenges } = held;
  const submissions = held.submissions.toSorted((a, b) => (a.seq < b.seq ? -1 : 1));
  return { ...context, contract, submissions, runs, challenges, effects: [] };
}

export function closeDraft({ contract, submissions, runs, challenges }: Draft): ContractCase {
  return { contract, submissions, runs, challenges };
}

export function moveContract(draft: Draft, to: ContractState): void {
  assertTransition('contract', CONTRACT_TRANSITIONS, draft.contract.state, to);
  draft.contract = { ...draft.contract, state: to };
  addEvent(draft, 'contract', to, {});
}

export function moveSubmission(
  draft: Draft,
  id: string,
  to: SubmissionState,
  change: Partial<
    Pick<SubmissionCase, 'captureBy' | 'captured' | 'heldUntil' | 'window' | 'verdict'>
  > = {},
): void {
  const before = submissionOf(draft, id);
  assertTransition('submission', SUBMISSION_TRANSITIONS, before.state, to);
  const after = { ...before, ...change, state: to };
  draft.submissions = draft.submissions.map((each) => (each.id === id ? after : each));
  // A verdict is told when it is committed, not while it waits in line.
  const told = to === 'FAILED' || to === 'INCONCLUSIVE' || to === 'PASSED' ? after.verdict : null;
  addEvent(draft, 'submission', to, {
    submissionId: id,
    data: told === null ? {} : { verdict: told.verdict, reason: told.reason },
  });
}

/** What is learnt of a submission that stays where it is. */
export function noteSubmission(
  draft: Draft,
  id: string,
  change: Partial<Pick<SubmissionCase, 'captureBy' | 'verdict'>>,
): void {
  draft.submissions = draft.submissions.map((each) =>
    each.id === id ? { ...each, ...change } : each,
  );
}

export function addSubmission(draft: Draft, submission: SubmissionCase): void {
  draft.submissions = [...draft.submissions, submission];
  addEvent(draft, 'submission', submission.state, { submissionId: submission.id });
}

export function moveRun(
  draft: Draft,
  id: string,
  to: RunState,
  change: Partial<Pick<RunCase, 'attempt' | 'tries' | 'lastFailure' | 'verdict'>> = {},
): void {
  const before = runOf(draft, id);
  assertTransition('run', RUN_TRANSITIONS, before.state, to);
  const after = { ...before, ...change, state: to };
  draft.runs = draft.runs.map((each) => (each.id === id ? after : each));
  addEvent(draft, 'run', to, {
    submissionId: before.submissionId,
    data: { runId: id, purpose: before.purpose, attempt: after.attempt },
  });
}

export function addRun(draft: Draft, run: RunCase): void {
  draft.runs = [...draft.runs, run];
  addEvent(draft, 'run', run.state, {
    submissionId: run.submissionId,
    data: { runId: run.id, purpose: run.purpose, attempt: run.attempt },
  });
}

export function moveChallenge(
  draft: Draft,
  id: string,
  to: ChallengeState,
  change: Partial<Pick<ChallengeCase, 'decideBy' | 'runIds' | 'rerunOrdered'>> = {},
): void {
  const before = draft.challenges.find((each) => each.id === id);
  if (before === undefined) throw inconsistent(`expected challenge ${id}, got none`);
  assertTransition('challenge', CHALLENGE_TRANSITIONS, before.state, to);
  draft.challenges = draft.challenges.map((each) =>
    each.id === id ? { ...each, ...change, state: to } : each,
  );
  addEvent(draft, 'challenge', to, { submissionId: before.submissionId, challengeId: id });
}

/** Says of a challenge that is RERUNNING which run answers it, too. */
export function linkRun(draft: Draft, challengeId: string, runId: string): void {
  draft.challenges = draft.challenges.map((each) =>
    each.id === challengeId ? { ...each, runIds: [...each.runIds, runId] } : each,
  );
}

export function addChallenge(draft: Draft, challenge: ChallengeCase): void {
  draft.challenges = [...draft.challenges, challenge];
  const { id, submissionId, kind, state } = challenge;
  addEvent(draft, 'challenge', state, { submissionId, challengeId: id, data: { kind } });
}

export function addTransfer(draft: Draft, transfer: PlannedTransfer): void {
  draft.effects.push({ kind: 'transfer', transfer });
}

/** Throws SETTLEMENT_CASE_INCONSISTENT where the case lacks it. */
export function submissionOf(draft: Draft, id: string): SubmissionCase {
  const found = draft.submissions.find((each) => each.id === id);
  if (found === undefined) throw inconsistent(`expected submission ${id}, got none`);
  return found;
}

/** Throws SETTLEMENT_CASE_INCONSISTENT where the case lacks it. */
export function runOf(draft: Draft, id: string): RunCase {
  const found = draft.runs.find((each) => each.id === id);
  if (found === undefined) throw inconsistent(`expected run ${id}, got none`);
  return found;
}

export function laterBy(draft: DecideContext, ms: number): Date {
  return new Date(draft.now.getTime() + ms);
}

export function inconsistent(message: string): AppError {
  return createSettlementError('SETTLEMENT_CASE_INCONSISTENT', { message });
}

function assertTransition<State extends string>(
  what: string,
  table: Transitions<State>,
  from: State,
  to: State,
): void {
  if (table[from].includes(to)) return;
  throw createSettlementError('SETTLEMENT_TRANSITION_ILLEGAL', {
    message: `expected a ${what} to go from ${from} to ${table[from].join(' or ') || 'nothing'}, got ${to}`,
  });
}

/** Named by what changed and what it became, such as `submission_passed`. */
function addEvent(
  draft: Draft,
  what: 'contract' | 'submission' | 'run' | 'challenge',
  state: string,
  about: {
    readonly submissionId?: string;
    readonly challengeId?: string;
    readonly data?: Extract<Effect, { kind: 'event' }>['data'];
  },
): void {
  const { submissionId = null, challengeId = null, data = {} } = about;
  const name = `${what}_${state.toLowerCase()}`;
  draft.effects.push({ kind: 'event', name, submissionId, challengeId, data });
}

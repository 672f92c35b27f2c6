import { SOURCE_REASONS } from '@kervyxa/core';
import type { SubmissionCase } from '../case.ts';
import type { Command } from '../command.ts';
import {
  addSubmission,
  laterBy,
  type Draft,
  inconsistent,
  moveSubmission,
  noteSubmission,
  type Refusal,
} from '../draft.ts';
import { endCapture, isActive } from '../due.ts';
import { createSettlementError } from '../errors.ts';
import { commitRefusal, isBehindHolder } from '../line.ts';
import { queueRun } from '../runs.ts';
import { refuseClosed, refuseState } from './contract.ts';

type CommandOf<Kind extends Command['kind']> = Extract<Command, { kind: Kind }>;

/** What decides whether a solver may submit. Neither length counts who holds the pass. */
export interface SubmitFacts extends Pick<Draft, 'contract' | 'now' | 'policy'> {
  /** Submissions that are undecided or deferred, and those of the solver among them. */
  readonly lineLength: number;
  readonly ownLength: number;
  /** Submissions of the solver in all, but those whose source could not be had. */
  readonly attempts: number;
}

/** Why the solver may not submit now, or null. A store that reads no whole case for it asks this. */
export function refuseSubmit(facts: SubmitFacts, solverId: string): Refusal {
  return (
    refuseState(facts, ['OPEN', 'IN_CHALLENGE']) ??
    refuseClosed(facts) ??
    refuseRequester(facts, solverId) ??
    refuseLength(facts) ??
    refuseAttempts(facts)
  );
}

/** The place in line is that of the request, if the commit can be captured in time. */
export function submit(draft: Draft, command: CommandOf<'submit'>): Refusal {
  const inLine = draft.submissions.filter((each) => isActive(each) && each.state !== 'PASSED');
  const own = inLine.filter(({ solverId }) => solverId === command.solverId);
  const lengths = { lineLength: inLine.length, ownLength: own.length };
  // A case has none that ended; a store that has them counts them all.
  const attempts = own.length;
  const refusal = refuseSubmit({ ...draft, ...lengths, attempts }, command.solverId);
  if (refusal !== null) return refusal;
  addSubmission(draft, {
    id: command.submissionId,
    solverId: command.solverId,
    seq: (draft.submissions.at(-1)?.seq ?? 0n) + 1n,
    state: 'RECEIVED',
    captureBy: null,
    captured: false,
    heldUntil: null,
    window: null,
    verdict: null,
  });
  draft.effects.push({ kind: 'enqueue_capture', submissionId: command.submissionId });
  return null;
}

export function tryCapture(draft: Draft, { submissionId }: CommandOf<'try_capture'>): Refusal {
  const submission = findReceived(draft, submissionId);
  if (submission === null) return refuseCaptured(submissionId);
  const captureBy = laterBy(draft, draft.policy.captureGraceMs);
  if (submission.captureBy === null) noteSubmission(draft, submissionId, { captureBy });
  else if (isLate(draft, submission)) endCapture(draft, submissionId);
  return null;
}

export function capture(draft: Draft, command: CommandOf<'capture'>): Refusal {
  const submission = findReceived(draft, command.submissionId);
  if (submission === null) return refuseCaptured(command.submissionId);
  if (isLate(draft, submission)) {
    endCapture(draft, submission.id);
  } else if (isBehindHolder(draft, submission)) {
    moveSubmission(draft, submission.id, 'DEFERRED', { captured: true });
  } else {
    moveSubmission(draft, submission.id, 'QUEUED', { captured: true });
    queueRun(draft, submission.id, 'VERIFY');
  }
  return null;
}

/** A source that can't be had ends at once; what is known of a commit waits for those before it in line. */
export function refuseCapture(draft: Draft, command: CommandOf<'refuse_capture'>): Refusal {
  const { submissionId, verdict } = command;
  const submission = findReceived(draft, submissionId);
  if (submission === null) return refuseCaptured(submissionId);
  if (verdict.verdict === 'PASS')
    throw inconsistent(`expected a verdict that refuses ${submissionId} before any run, got PASS`);
  if (isLate(draft, submission)) endCapture(draft, submissionId);
  else if (isSourceReason(verdict.reason)) commitRefusal(draft, submissionId, verdict);
  else moveSubmission(draft, submissionId, 'VERIFIED', { verdict });
  return null;
}

export function isSourceReason(reason: string | null): boolean {
  return SOURCE_REASONS.some((each) => each === reason);
}

function isLate({ now }: Draft, { captureBy }: SubmissionCase): boolean {
  return captureBy !== null && now >= captureBy;
}

function findReceived(draft: Draft, id: string): SubmissionCase | null {
  return draft.submissions.find((each) => each.id === id && each.state === 'RECEIVED') ?? null;
}

function refuseCaptured(submissionId: string): Refusal {
  return createSettlementError('SETTLEMENT_CAPTURE_NOT_WANTED', {
    message: `expected ${submissionId} to wait for its commit, got one that does not`,
  });
}

function refuseRequester({ contract }: Pick<Draft, 'contract'>, solverId: string): Refusal {
  if (solverId !== contract.requesterId) return null;
  return createSettlementError('SETTLEMENT_OWN_CONTRACT', {
    message: 'expected a solver who is not the requester, got the requester',
    fix: 'Cancel the contract if its work is done.',
  });
}

function refuseLength({ policy, lineLength, ownLength }: SubmitFacts): Refusal {
  const { lineLengthMax, linePerSolverMax } = policy;
  if (lineLength >= lineLengthMax)
    return createSettlementError('SETTLEMENT_LINE_FULL', {
      message: `expected fewer than ${lineLengthMax} undecided submissions, got ${lineLength}`,
      fix: 'Submit again when some of them are decided.',
    });
  if (ownLength < linePerSolverMax) return null;
  return createSettlementError('SETTLEMENT_SOLVER_LINE_FULL', {
    message: `expected fewer than ${linePerSolverMax} undecided submissions of one solver, got ${ownLength}`,
    fix: 'Submit again when some of yours are decided.',
  });
}

/** One bit and a reason of each hidden criterion a try: what many tries would add up to is bounded by their number (H15). */
function refuseAttempts({ policy, attempts }: SubmitFacts): Refusal {
  const { attemptsPerSolverMax } = policy;
  if (attempts < attemptsPerSolverMax) return null;
  return createSettlementError('SETTLEMENT_ATTEMPTS_USED', {
    message: `expected fewer than ${attemptsPerSolverMax} submissions of one solver, got ${attempts}`,
    fix: 'Leave the contract to others.',
  });
}

import { verdictWithoutResult } from '@kervyxa/core';
import type { ChallengeCase, ContractCase, SubmissionCase, SubmissionState } from './case.ts';
import { lapseChallenge, openChallengesOf } from './challenges.ts';
import { type Draft, moveContract, moveSubmission } from './draft.ts';
import { refundEscrow, settleContract } from './escrow.ts';
import { commitLine, holderOf } from './line.ts';

/** Something that time alone brings. */
type Due = { readonly at: Date } & (
  | { readonly kind: 'capture_ends'; readonly submission: SubmissionCase }
  | { readonly kind: 'hold_ends'; readonly submission: SubmissionCase }
  | { readonly kind: 'arbitration_ends'; readonly challenge: ChallengeCase }
  | { readonly kind: 'settle'; readonly winner: SubmissionCase }
  | { readonly kind: 'expire' }
);

/** Still to be decided: while there is one before the holder, the holder may lose the pass to it. */
const UNDECIDED: readonly SubmissionState[] = ['RECEIVED', 'QUEUED', 'RUNNING', 'VERIFIED', 'HELD'];

/** Holds the reward in escrow. */
export function isActive({ state }: SubmissionCase): boolean {
  return UNDECIDED.includes(state) || state === 'PASSED' || state === 'DEFERRED';
}

/** When `advance` does something next: at or after it, not before. Null where only somebody's command can. */
export function nextDueAt(held: ContractCase): Date | null {
  return nextDue(held)?.at ?? null;
}

/** Does what is due, in order of its time, until nothing more is due. */
export function advanceCase(draft: Draft): void {
  for (let due = nextDue(draft); due !== null && due.at <= draft.now; due = nextDue(draft)) {
    bringAbout(draft, due);
    commitLine(draft);
  }
}

function nextDue(held: Pick<Draft, 'contract' | 'submissions' | 'challenges'>): Due | null {
  const dues: readonly Due[] = [
    ...held.submissions.flatMap(dueOfSubmission),
    ...held.challenges.flatMap(dueOfChallenge),
    ...dueOfHolder(held),
    ...dueOfContract(held),
  ];
  return dues.reduce<Due | null>(
    (first, due) => (first === null || due.at < first.at ? due : first),
    null,
  );
}

function dueOfSubmission(submission: SubmissionCase): readonly Due[] {
  const { state, captureBy, heldUntil } = submission;
  if (state === 'RECEIVED' && captureBy !== null)
    return [{ kind: 'capture_ends', at: captureBy, submission }];
  if (state === 'HELD' && heldUntil !== null)
    return [{ kind: 'hold_ends', at: heldUntil, submission }];
  return [];
}

function dueOfChallenge(challenge: ChallengeCase): readonly Due[] {
  if (challenge.state !== 'AWAITING_ARBITER') return [];
  return [{ kind: 'arbitration_ends', at: challenge.decideBy, challenge }];
}

function dueOfHolder(held: Pick<Draft, 'submissions' | 'challenges'>): readonly Due[] {
  const winner = holderOf(held);
  if (winner === null || winner.window === null) return [];
  const isChallenged = openChallengesOf(held, winner.id).length > 0;
  const isBehind = held.submissions.some(
    ({ seq, state }) => seq < winner.seq && UNDECIDED.includes(state),
  );
  return isChallenged || isBehind ? [] : [{ kind: 'settle', at: winner.window.closesAt, winner }];
}

function dueOfContract({ contract, submissions }: Pick<Draft, 'contract' | 'submissions'>) {
  const { state, closesAt: at } = contract;
  const isOpen = state === 'OPEN' && !submissions.some(isActive);
  return isOpen || state === 'DRAFT' || state === 'PROVED' ? [{ kind: 'expire', at } as const] : [];
}

function bringAbout(draft: Draft, due: Due): void {
  switch (due.kind) {
    case 'capture_ends':
      endCapture(draft, due.submission.id);
      break;
    case 'hold_ends':
      endHold(draft, due.submission.id);
      break;
    case 'arbitration_ends':
      lapseChallenge(draft, due.challenge);
      break;
    case 'settle':
      settleContract(draft, due.winner);
      break;
    case 'expire':
      if (draft.contract.state === 'OPEN') refundEscrow(draft);
      moveContract(draft, 'EXPIRED');
      break;
  }
}

/** The commit could not be captured in time. */
export function endCapture(draft: Draft, submissionId: string): void {
  const verdict = verdictWithoutResult('INCONCLUSIVE', 'REPOSITORY_UNREACHABLE');
  moveSubmission(draft, submissionId, 'INCONCLUSIVE', { verdict });
}

/** Our trouble was not over in time: the reason says that it is ours. */
function endHold(draft: Draft, submissionId: string): void {
  const run = draft.runs.findLast(
    (each) => each.submissionId === submissionId && each.lastFailure !== null,
  );
  const verdict = verdictWithoutResult('INCONCLUSIVE', run?.lastFailure ?? 'WORKER_LOST');
  moveSubmission(draft, submissionId, 'INCONCLUSIVE', { verdict, heldUntil: null });
}

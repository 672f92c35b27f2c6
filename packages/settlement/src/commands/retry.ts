import type { SubmissionCase } from '../case.ts';
import type { Command } from '../command.ts';
import { type Draft, moveSubmission, type Refusal } from '../draft.ts';
import { createSettlementError } from '../errors.ts';
import { isBehindHolder } from '../line.ts';
import { queueRun } from '../runs.ts';
import { isSourceReason } from './capture.ts';
import { refuseState } from './contract.ts';

/** Another try in the old place, once the operator has mended what was broken. */
export function retry(draft: Draft, command: Extract<Command, { kind: 'retry' }>): Refusal {
  const refusal = refuseState(draft, ['OPEN', 'IN_CHALLENGE']);
  if (refusal !== null) return refusal;
  const submission = draft.submissions.find(({ id }) => id === command.submissionId);
  if (submission === undefined || !isMendable(submission))
    return createSettlementError('SETTLEMENT_RETRY_REFUSED', {
      message: `expected a submission that is HELD, or INCONCLUSIVE for no reason of its source, got ${submission?.state ?? 'one that is decided'}`,
      fix: 'The solver can submit again.',
    });
  tryAgain(draft, submission);
  return null;
}

function isMendable({ state, verdict }: SubmissionCase): boolean {
  return (
    state === 'HELD' ||
    (state === 'INCONCLUSIVE' && verdict !== null && !isSourceReason(verdict.reason))
  );
}

function tryAgain(draft: Draft, submission: SubmissionCase): void {
  const { id, captured } = submission;
  const afresh = { verdict: null, heldUntil: null };
  if (!captured) {
    moveSubmission(draft, id, 'RECEIVED', { ...afresh, captureBy: null });
    draft.effects.push({ kind: 'enqueue_capture', submissionId: id });
  } else if (isBehindHolder(draft, submission)) {
    moveSubmission(draft, id, 'DEFERRED', afresh);
  } else {
    moveSubmission(draft, id, 'QUEUED', afresh);
    queueRun(draft, id, 'VERIFY');
  }
}

import type { SealedVerdict } from '@kervyxa/core';
import type { SubmissionCase } from './case.ts';
import { endChallenges } from './challenges.ts';
import {
  laterBy,
  type Draft,
  inconsistent,
  moveContract,
  moveSubmission,
  submissionOf,
} from './draft.ts';
import { abandonRuns, liveRuns, queueRun } from './runs.ts';

/**
 * FIRST_VERIFIED_PASS: commits verdicts in order of receipt, whatever finished first.
 *
 * 1. Walk the line from its front, past what is decided or HELD.
 * 2. Stop at the first submission that is still to be decided: nobody overtakes it.
 * 3. Commit a sealed verdict; promote a deferred submission that nobody is before.
 * 4. Behind the one that has the pass, all others are deferred.
 */
export function commitLine(draft: Draft): void {
  const { state } = draft.contract;
  if (state !== 'OPEN' && state !== 'IN_CHALLENGE') return;
  if (walkLine(draft)) deferRest(draft);
  const isHeld = holderOf(draft) !== null;
  if (isHeld && state === 'OPEN') moveContract(draft, 'IN_CHALLENGE');
  if (!isHeld && state === 'IN_CHALLENGE') moveContract(draft, 'OPEN');
}

/** The submission that has the pass; there is one at most. */
export function holderOf({ submissions }: Pick<Draft, 'submissions'>): SubmissionCase | null {
  const [holder = null, second] = submissions.filter(({ state }) => state === 'PASSED');
  if (second !== undefined) throw inconsistent(`expected one pass, got a second: ${second.id}`);
  return holder;
}

/** Whether somebody before it in line has the pass. */
export function isBehindHolder(draft: Draft, submission: SubmissionCase): boolean {
  const holder = holderOf(draft);
  return holder !== null && holder.seq < submission.seq;
}

/** Whether the walk came to one that has the pass: then nobody before it is undecided, unless HELD. */
function walkLine(draft: Draft): boolean {
  for (const { id } of draft.submissions) {
    const submission = submissionOf(draft, id);
    switch (submission.state) {
      case 'PASSED':
        return true;
      case 'RECEIVED':
      case 'QUEUED':
      case 'RUNNING':
        return false;
      case 'VERIFIED':
        if (sealedOf(submission).verdict === 'PASS') {
          takePass(draft, id);
          return true;
        }
        commitRefusal(draft, id, sealedOf(submission));
        break;
      case 'DEFERRED':
        if (submission.verdict === null) wake(draft, id);
        else takePass(draft, id);
        return submission.verdict !== null;
      case 'HELD':
      case 'FAILED':
      case 'INCONCLUSIVE':
      case 'OVERTURNED':
      case 'PAID':
      case 'SUPERSEDED':
        break;
    }
  }
  return false;
}

/** One that was held or undecided when somebody behind it passed, and passes now, was received first. */
function takePass(draft: Draft, id: string): void {
  const later = holderOf(draft);
  if (later !== null) {
    moveSubmission(draft, later.id, 'DEFERRED');
    endChallenges(draft, later.id, 'VOIDED');
    abandonRuns(draft, later.id);
  }
  const opensAt = draft.now;
  const closesAt = laterBy(draft, draft.contract.challengeWindowMs);
  moveSubmission(draft, id, 'PASSED', { window: { opensAt, closesAt } });
}

/** An attempt that still runs decides; else a new run does. */
function wake(draft: Draft, id: string): void {
  const isRunning = liveRuns(draft, id).length > 0;
  moveSubmission(draft, id, isRunning ? 'RUNNING' : 'QUEUED');
  if (!isRunning) queueRun(draft, id, 'VERIFY');
}

/** All that are under way are behind the one that has the pass. */
function deferRest(draft: Draft): void {
  for (const { id, state, verdict } of draft.submissions) {
    if (state === 'VERIFIED' && verdict !== null && verdict.verdict !== 'PASS')
      commitRefusal(draft, id, verdict);
    else if (state === 'QUEUED' || state === 'RUNNING' || state === 'VERIFIED')
      moveSubmission(draft, id, 'DEFERRED');
    // What a worker has begun may finish: it is decided then if the pass comes free.
    if (state === 'QUEUED') abandonRuns(draft, id);
  }
}

/** A verdict that gives no claim on the pass. */
export function commitRefusal(draft: Draft, id: string, verdict: SealedVerdict): void {
  moveSubmission(draft, id, verdict.verdict === 'FAIL' ? 'FAILED' : 'INCONCLUSIVE', { verdict });
}

function sealedOf(submission: SubmissionCase): SealedVerdict {
  if (submission.verdict !== null) return submission.verdict;
  throw inconsistent(`expected a verdict on ${submission.id}, which is VERIFIED, got none`);
}

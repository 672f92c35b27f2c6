import type { ChallengeCase } from './case.ts';
import { askArbiter, overturnPass, upholdPass } from './challenges.ts';
import { type Draft, linkRun } from './draft.ts';
import { liveRuns, queueRun } from './runs.ts';

/** The rerun that answers a challenge: the one that is under way, or a new one. Its id. */
export function joinRerun(draft: Draft, submissionId: string): string {
  const underWay = liveRuns(draft, submissionId).find(({ purpose }) => purpose === 'RERUN');
  return underWay?.id ?? queueRun(draft, submissionId, 'RERUN');
}

/**
 * What the rerun that was just sealed means for the challenges that wait for it. All reruns of the submission count,
 * whoever asked for them: nobody can rerun a flaky criterion until it fails, and money never moves on one failure.
 */
export function judgeReruns(draft: Draft, submissionId: string): void {
  const verdicts = draft.runs
    .filter((run) => run.submissionId === submissionId && run.purpose === 'RERUN')
    .flatMap(({ verdict }) => (verdict === null ? [] : [verdict.verdict]));
  const passed = verdicts.includes('PASS');
  const failures = verdicts.filter((verdict) => verdict === 'FAIL').length;
  const waiting = rerunning(draft, submissionId);
  if (verdicts.at(-1) === 'INCONCLUSIVE' || (passed && failures > 0)) {
    for (const challenge of waiting) askArbiter(draft, challenge);
  } else if (passed) {
    for (const challenge of waiting) upholdPass(draft, challenge);
  } else if (failures > 1) {
    overturnPass(draft, submissionId);
  } else {
    const runId = queueRun(draft, submissionId, 'RERUN');
    for (const { id } of waiting) linkRun(draft, id, runId);
  }
}

/** No machine answers them: the rerun's tries are used up. */
export function giveUpRerun(draft: Draft, submissionId: string): void {
  for (const challenge of rerunning(draft, submissionId)) askArbiter(draft, challenge);
}

function rerunning(draft: Draft, submissionId: string): readonly ChallengeCase[] {
  return draft.challenges.filter(
    (each) => each.submissionId === submissionId && each.state === 'RERUNNING',
  );
}

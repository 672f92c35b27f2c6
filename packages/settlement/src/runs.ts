import type { RunPurpose } from './case.ts';
import { addRun, type Draft, moveRun } from './draft.ts';

/** A new run, for a worker to take. Its id. */
export function queueRun(draft: Draft, submissionId: string, purpose: RunPurpose): string {
  const id = draft.newId('run');
  addRun(draft, {
    id,
    submissionId,
    purpose,
    state: 'QUEUED',
    attempt: 0,
    tries: 0,
    lastFailure: null,
    verdict: null,
  });
  draft.effects.push({ kind: 'enqueue_run', runId: id, delayMs: 0 });
  return id;
}

/** Runs of a submission that are queued or running. */
export function liveRuns(draft: Draft, submissionId: string): Draft['runs'] {
  return draft.runs.filter(
    (run) =>
      run.submissionId === submissionId && (run.state === 'QUEUED' || run.state === 'RUNNING'),
  );
}

export function abandonRuns(draft: Draft, submissionId: string): void {
  for (const { id } of liveRuns(draft, submissionId)) moveRun(draft, id, 'ABANDONED');
}

import { canonicalDigest, canonicalJson } from '@kervyxa/core';
import type { CheckTask } from '@kervyxa/db';
import { evaluate, type EvaluationRecord, type EvaluationRefusal } from '@kervyxa/evidence';
import type { JobDeps } from './job.ts';

type RecordTask = Extract<CheckTask, { readonly kind: 'record' }>;

const STATUS = { verified: 'passed', refuted: 'failed', inconclusive: 'inconclusive' } as const;

/** Writes down what each declared stage said, once, for a check that has ended. */
export async function recordCheck(deps: JobDeps, task: RecordTask): Promise<void> {
  const evaluation = canonicalJson(toCheckEvaluation(task));
  await deps.database.checkers.work.recordCheck(task.check.id, { evaluation, attestation: null });
}

/** The declared checks are the stages of the contract; those after the one that ended it were not run. */
export function toCheckEvaluation({
  check: { id, facts },
  contract,
}: Pick<RecordTask, 'check' | 'contract'>): EvaluationRecord {
  const refusals = facts.results.flatMap(({ reason }): EvaluationRefusal[] => {
    if (reason === 'INPUTS_CHANGED') return ['mutation_detected'];
    return reason === 'TIME_LIMIT' ? ['timed_out'] : [];
  });
  return evaluate({
    runRef: id,
    verifier: { ref: contract.id, digest: contract.digest },
    result: { ref: `${id}/result`, digest: canonicalDigest(facts.results) },
    declared: contract.document.stages.map(({ key }) => key),
    reported: contract.document.stages.map(({ key }) => {
      const result = facts.results.find(({ stage }) => stage === key);
      return { ref: key, status: result === undefined ? 'not_run' : STATUS[result.outcome] };
    }),
    refusals,
  });
}

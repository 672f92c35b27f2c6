import type { Verdict } from '@kervyxa/core';
import type { CriterionResult, Reason } from './result.ts';

const RANK: Readonly<Record<CriterionResult['status'], number>> = {
  fail: 0,
  error: 1,
  inconclusive: 2,
  not_run: 3,
  pass: 4,
};

/**
 * The verdict over criteria that ran. A failed criterion is a fact that no repair of ours or of the contract changes,
 * so it outweighs ERROR and INCONCLUSIVE; ERROR outweighs INCONCLUSIVE because a retry may still tell. PASS needs
 * every criterion to have run and passed, and at least one to exist.
 */
export function gradeVerdict(criteria: readonly CriterionResult[]): Verdict {
  const statuses = new Set(criteria.map(({ status }) => status));
  if (statuses.has('fail')) return 'FAIL';
  if (statuses.has('error')) return 'ERROR';
  if (statuses.has('inconclusive')) return 'INCONCLUSIVE';
  return statuses.size === 1 && statuses.has('pass') ? 'PASS' : 'ERROR';
}

/** The criteria's reasons, those that made the verdict first, otherwise in the contract's order. */
export function toReasons(criteria: readonly CriterionResult[]): Reason[] {
  return criteria
    .toSorted((a, b) => RANK[a.status] - RANK[b.status])
    .flatMap(({ id, reason, message }) =>
      reason === null ? [] : [{ code: reason, subject: id, message: message ?? '' }],
    );
}

import { describe, expect, it } from 'vitest';
import type { CriterionResult } from './result.ts';
import { toNotRun } from './result.ts';
import { contractWith } from './testing/contract.ts';
import { gradeVerdict, toReasons } from './verdict.ts';

function withStatuses(...statuses: CriterionResult['status'][]): CriterionResult[] {
  const [criterion] = contractWith({}).criteria;
  if (criterion === undefined) throw new Error('the contract has a criterion');
  return statuses.map((status, index) => ({
    ...toNotRun(criterion),
    id: `c${index}`,
    status,
    reason: status === 'fail' ? 'CRASHED' : status === 'error' ? 'INTERNAL' : null,
  }));
}

// Keeps R-VERDICT-CLOSED.
describe('the verdict', () => {
  it.each<[CriterionResult['status'][], string]>([
    [['pass', 'pass'], 'PASS'],
    [['pass', 'fail'], 'FAIL'],
    [['fail', 'error', 'inconclusive'], 'FAIL'],
    [['error', 'inconclusive', 'pass'], 'ERROR'],
    [['inconclusive', 'pass'], 'INCONCLUSIVE'],
    [['pass', 'not_run'], 'ERROR'],
    [['not_run'], 'ERROR'],
    [[], 'ERROR'],
  ])('of %j is %s', (statuses, verdict) => {
    expect(gradeVerdict(withStatuses(...statuses))).toBe(verdict);
  });

  it('names the reasons that made it first', () => {
    expect(toReasons(withStatuses('error', 'pass', 'fail')).map(({ subject }) => subject)).toEqual([
      'c2',
      'c0',
    ]);
  });
});

import { describe, expect, it } from 'vitest';
import { isValidRecord } from '../testing/valid-record.ts';
import { type EvaluatedStage, toStagesEvaluation } from './of-stages.ts';

const DIGEST = `sha256:${'b'.repeat(64)}`;

function recordOf(...stages: (Omit<EvaluatedStage, 'problem'> & { problem?: string })[]) {
  const record = toStagesEvaluation({
    runRef: 'urn:kervyxa:run:run_1',
    verifier: { ref: 'urn:test:checker', digest: DIGEST },
    result: { ref: 'result.json', digest: DIGEST },
    stages: stages.map((each) => ({ problem: null, ...each })),
  });
  expect(isValidRecord(record)).toBe(true);
  return record;
}

// Keeps R-EVIDENCE-RECORD.
describe('the evaluation of stages', () => {
  it('declares each of them, and passes where all are verified', () => {
    const record = recordOf(
      { key: 'form', result: 'verified' },
      { key: 'content', result: 'verified' },
    );
    expect(record).toMatchObject({
      passed: true,
      checks: [
        { 'check/ref': 'form', status: 'passed' },
        { 'check/ref': 'content', status: 'passed' },
      ],
    });
  });

  it('names the stages behind the one that ended it, and does not pass for them', () => {
    const { checks, passed } = recordOf(
      { key: 'form', result: 'refuted' },
      { key: 'content', result: 'not_run' },
    );
    expect(checks.map(({ status }) => status)).toEqual(['failed', 'not_run']);
    expect(passed).toBe(false);
  });

  it.each([
    ['TIME_LIMIT', 'timed_out'],
    ['RESULT_MISSING', 'result_malformed'],
    ['RESULT_UNKNOWN', 'result_malformed'],
    ['ERROR_CLAIMED', 'result_malformed'],
    ['SCORE_UNEXPECTED', 'result_malformed'],
    ['EVIDENCE_REFUSED', 'result_malformed'],
    ['INPUTS_CHANGED', 'mutation_detected'],
    ['EXIT_STATUS', undefined],
    ['WRITTEN_AFTERWARDS', undefined],
    ['NOT_CONFORMANT', undefined],
    ['REQUIREMENTS_UNMET', undefined],
  ])('with one that could not decide for %s has the refusal %s', (problem, code) => {
    const record = recordOf({ key: 'form', result: 'inconclusive', problem });
    expect(record.checks).toEqual([{ 'check/ref': 'form', status: 'inconclusive' }]);
    expect(record['refusal/code']).toBe(code);
  });
});

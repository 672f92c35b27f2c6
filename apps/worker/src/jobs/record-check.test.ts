import type { CheckRow, PublishedContractRow } from '@kervyxa/db';
import { EvaluationRecordSchema } from '@kervyxa/evidence';
import { describe, expect, it } from 'vitest';
import { toCheckEvaluation } from './record-check.ts';

/** A check of three stages, of which those that are given were decided. */
function evaluationOf(outcomes: readonly string[], reason: string | null = null) {
  const stages = ['form', 'review', 'deposit'];
  const results = outcomes.map((outcome, at) => ({
    stage: stages[at],
    outcome,
    reason: outcome === 'verified' ? null : reason,
  }));
  const check = { id: 'chk_1', facts: { results } } as unknown as CheckRow;
  const contract = {
    id: 'vct_1',
    digest: `sha256:${'1'.repeat(64)}`,
    document: { stages: stages.map((key) => ({ key })) },
  } as unknown as PublishedContractRow;
  return EvaluationRecordSchema.parse(toCheckEvaluation({ check, contract }));
}

describe('the record of a check', () => {
  it('passes where every stage of the contract does', () => {
    const record = evaluationOf(['verified', 'verified', 'verified']);
    expect(record).toMatchObject({ passed: true, 'verifier/ref': 'vct_1', 'run/ref': 'chk_1' });
    expect(record.checks.map((each) => each['check/ref'])).toEqual(['form', 'review', 'deposit']);
  });

  it('names the stages behind the one that ended it, and does not pass for them', () => {
    const { checks, passed } = evaluationOf(['verified', 'refuted'], 'REFUTED');
    expect(checks.map(({ status }) => status)).toEqual(['passed', 'failed', 'not_run']);
    expect(passed).toBe(false);
  });

  it.each([
    ['INPUTS_CHANGED', 'mutation_detected'],
    ['TIME_LIMIT', 'timed_out'],
    ['CHECK_INCONCLUSIVE', undefined],
  ])('of a stage that ended with %s has the refusal %s', (reason, code) => {
    expect(evaluationOf(['inconclusive'], reason)['refusal/code']).toBe(code);
  });
});

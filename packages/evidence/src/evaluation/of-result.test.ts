import type { VerificationResult } from '@kervyxa/verifier';
import { describe, expect, it } from 'vitest';
import { toPublicResult } from '../result/public-result.ts';
import { sampleContract, sampleCriterion, sampleResult } from '../testing/sample-run.ts';
import { isValidRecord } from '../testing/valid-record.ts';
import { toEvaluation } from './of-result.ts';

const contract = sampleContract();
const DIGEST = `sha256:${'b'.repeat(64)}`;
const REFS = {
  runRef: 'urn:kervyxa:run:run_1',
  verifier: { ref: 'urn:test:contract', digest: DIGEST },
  result: { ref: 'urn:test:result', digest: DIGEST },
};

function recordOf(more: Partial<VerificationResult>) {
  const record = toEvaluation(contract, sampleResult(contract, more), REFS);
  expect(isValidRecord(record)).toBe(true);
  return record;
}

const statusesOf = (record: ReturnType<typeof recordOf>) =>
  record.checks.map(({ status }) => status);
const reasonOf = (code: VerificationResult['reasons'][number]['code']) => ({
  code,
  message: 'it did not hold',
  subject: null,
});
const NOT_RUN = contract.criteria.map(({ id }) =>
  sampleCriterion(id, { status: 'not_run', exitCode: null }),
);

// Keeps R-EVIDENCE-RECORD.
describe('the evaluation of a result', () => {
  it('declares the policy and every criterion, and passes with the verdict', () => {
    const record = recordOf({});
    expect(record.passed).toBe(true);
    expect(record.checks).toEqual([
      { 'check/ref': 'policy', status: 'passed' },
      { 'check/ref': 'criterion:says-hello', status: 'passed' },
      { 'check/ref': 'criterion:secret', status: 'passed' },
    ]);
  });

  it('fails with a criterion that fails', () => {
    const failed = sampleCriterion('secret', { status: 'fail', reason: 'EXIT_CODE_MISMATCH' });
    const record = recordOf({
      verdict: 'FAIL',
      criteria: [sampleCriterion('says-hello'), failed],
      reasons: [reasonOf('EXIT_CODE_MISMATCH')],
    });
    expect(statusesOf(record)).toEqual(['passed', 'passed', 'failed']);
    expect(record.passed).toBe(false);
    expect(record['refusal/code']).toBeUndefined();
  });

  it.each([
    ['PROTECTED_PATH_CHANGED', 'FAIL', 'e'.repeat(40), 'failed'],
    ['LFS_POINTER', 'FAIL', 'e'.repeat(40), 'failed'],
    ['SETUP_FAILED', 'FAIL', 'e'.repeat(40), 'passed'],
    ['IMAGE_UNAVAILABLE', 'ERROR', 'e'.repeat(40), 'passed'],
    ['SOURCE_TOO_LARGE', 'FAIL', null, 'failed'],
    ['COMMIT_NOT_FOUND', 'INCONCLUSIVE', null, 'not_run'],
    ['ENGINE_UNAVAILABLE', 'ERROR', null, 'not_run'],
  ] as const)('after %s (%s) tells policy %4$s', (code, verdict, tree, policy) => {
    const record = recordOf({ verdict, tree, criteria: NOT_RUN, reasons: [reasonOf(code)] });
    expect(statusesOf(record)).toEqual([policy, 'not_run', 'not_run']);
    expect(record.passed).toBe(false);
  });

  it.each([
    ['INPUTS_CHANGED', 'ERROR', 'mutation_detected'],
    ['TIME_LIMIT', 'FAIL', 'timed_out'],
  ] as const)('refuses %s (%s) as %s', (code, verdict, refusal) => {
    const record = recordOf({ verdict, reasons: [reasonOf(code)] });
    expect(record).toMatchObject({ passed: false, 'refusal/code': refusal });
  });

  it('a result lacks a criterion, has one twice or one more: refused, PASS or not', () => {
    const [open, secret] = [sampleCriterion('says-hello'), sampleCriterion('secret')];
    const refusalOf = (criteria: VerificationResult['criteria']) =>
      recordOf({ criteria })['refusal/code'];
    expect(refusalOf([open])).toBe('check_missing');
    expect(refusalOf([open, secret, secret])).toBe('check_duplicate');
    expect(refusalOf([open, secret, sampleCriterion('other')])).toBe('check_unexpected');
  });

  it('a result says PASS over criteria that did not: refused as malformed', () => {
    const failed = sampleCriterion('secret', { status: 'fail' });
    const record = recordOf({ criteria: [sampleCriterion('says-hello'), failed] });
    expect(record).toMatchObject({ passed: false, 'refusal/code': 'result_malformed' });
  });

  it('a result says FAIL over criteria that all passed: refused as malformed', () => {
    const record = recordOf({ verdict: 'FAIL', reasons: [reasonOf('CRASHED')] });
    expect(record).toMatchObject({ passed: false, 'refusal/code': 'result_malformed' });
  });

  it('a criterion that is called policy is not the policy', () => {
    const [first, ...rest] = contract.criteria;
    if (first === undefined) throw new Error('expected a criterion');
    const named = { ...contract, criteria: [{ ...first, id: 'policy' }, ...rest] };
    const result = sampleResult(named);
    expect(toEvaluation(named, result, REFS).passed).toBe(true);
  });

  it('says of checks the same to outsiders', () => {
    const result = sampleResult(contract);
    expect(toEvaluation(contract, toPublicResult(result), REFS).checks).toEqual(
      toEvaluation(contract, result, REFS).checks,
    );
  });
});

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isValidRecord } from '../testing/valid-record.ts';
import { evaluate, type EvaluationInput } from './evaluate.ts';
import { CHECK_STATUSES, type ReportedStatus } from './record.ts';
import { EVALUATION_REFUSALS } from './refusals.ts';

const DIGEST = `sha256:${'a'.repeat(64)}`;
const REPORTABLE = CHECK_STATUSES.filter(
  (status): status is ReportedStatus => !['missing', 'unexpected', 'duplicate'].includes(status),
);

function inputOf(
  declared: readonly string[],
  reported: EvaluationInput['reported'],
  refusals: EvaluationInput['refusals'] = [],
): EvaluationInput {
  const result = { ref: 'urn:test:result', digest: DIGEST };
  const verifier = { ref: 'urn:test:verifier', digest: DIGEST };
  return { runRef: 'urn:test:run', verifier, result, declared, reported, refusals };
}

const passedAll = (refs: readonly string[]) =>
  refs.map((ref) => ({ ref, status: 'passed' as const }));

const names = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 8 }), {
  minLength: 1,
  maxLength: 6,
});

// Keeps R-EVIDENCE-RECORD.
describe('an evaluation', () => {
  it('has passed where every declared check is reported once and passed, in whatever order', () => {
    fc.assert(
      fc.property(
        names.chain((refs) =>
          fc.tuple(fc.constant(refs), fc.shuffledSubarray(refs, { minLength: refs.length })),
        ),
        ([declared, order]) => {
          const record = evaluate(inputOf(declared, passedAll(order)));
          expect(isValidRecord(record)).toBe(true);
          expect(record.passed).toBe(true);
          expect(record).not.toHaveProperty('refusal/code');
          expect(record.checks.map((check) => check['check/ref'])).toEqual(declared);
        },
      ),
    );
  });

  it('E07 a verifier reports one less: refused as missing', () => {
    fc.assert(
      fc.property(names, fc.nat(), (declared, at) => {
        const left = declared.filter((_, index) => index !== at % declared.length);
        const record = evaluate(inputOf(declared, passedAll(left)));
        expect(isValidRecord(record)).toBe(true);
        expect(record).toMatchObject({ passed: false, 'refusal/code': 'check_missing' });
      }),
    );
  });

  it('E07 a verifier reports one twice, the second time as passed: refused as duplicate', () => {
    fc.assert(
      fc.property(names, fc.nat(), fc.constantFrom(...REPORTABLE), (declared, at, status) => {
        const again = { ref: declared[at % declared.length] ?? '', status };
        const record = evaluate(inputOf(declared, [again, ...passedAll(declared)]));
        expect(isValidRecord(record)).toBe(true);
        expect(record).toMatchObject({ passed: false, 'refusal/code': 'check_duplicate' });
      }),
    );
  });

  it('E07 a verifier reports one that nobody declared: refused as unexpected', () => {
    fc.assert(
      fc.property(names, (all) => {
        const [extra = '', ...declared] = [...all, 'declared'];
        fc.pre(!declared.includes(extra));
        const record = evaluate(inputOf(declared, passedAll([...declared, extra])));
        expect(isValidRecord(record)).toBe(true);
        expect(record).toMatchObject({ passed: false, 'refusal/code': 'check_unexpected' });
      }),
    );
  });

  it('has not passed where one check did not, which is no refusal', () => {
    fc.assert(
      fc.property(
        names,
        fc.nat(),
        fc.constantFrom(...REPORTABLE.filter((status) => status !== 'passed')),
        (declared, at, status) => {
          const reported = declared.map((ref, index) =>
            index === at % declared.length ? { ref, status } : { ref, status: 'passed' as const },
          );
          const record = evaluate(inputOf(declared, reported));
          expect(isValidRecord(record)).toBe(true);
          expect(record.passed).toBe(false);
          expect(record).not.toHaveProperty('refusal/code');
        },
      ),
    );
  });

  it('has passed in no other case: whatever is declared and reported', () => {
    const ref = fc.constantFrom('a', 'b', 'c', 'd');
    const reported = fc.array(fc.record({ ref, status: fc.constantFrom(...REPORTABLE) }), {
      maxLength: 5,
    });
    fc.assert(
      fc.property(
        fc.array(ref, { maxLength: 4 }),
        reported,
        fc.subarray([...EVALUATION_REFUSALS]),
        (declared, said, refusals) => {
          const record = evaluate(inputOf(declared, said, refusals));
          expect(isValidRecord(record)).toBe(true);
          const isGood =
            refusals.length === 0 &&
            declared.length > 0 &&
            said.length === declared.length &&
            new Set(declared).size === declared.length &&
            declared.every((each) => said.some((s) => s.ref === each && s.status === 'passed'));
          expect(record.passed).toBe(isGood);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('proves nothing where nothing is declared', () => {
    expect(evaluate(inputOf([], []))).toMatchObject({
      passed: false,
      'refusal/code': 'check_missing',
    });
  });

  it('tells the first refusal of the list, whatever else is wrong', () => {
    const [one, two] = [
      { ref: 'b', status: 'passed' },
      { ref: 'x', status: 'passed' },
    ] as const;
    const wrong = inputOf(['a', 'b'], [one, one, two]);
    const codes = ['mutation_detected', 'result_malformed', 'timed_out'] as const;
    for (const [index, code] of codes.entries()) {
      const record = evaluate({ ...wrong, refusals: codes.slice(index).toReversed() });
      expect(record['refusal/code']).toBe(code);
    }
    expect(evaluate(wrong)['refusal/code']).toBe('check_duplicate');
    expect(evaluate(inputOf(['a'], [two]))['refusal/code']).toBe('check_unexpected');
  });

  it('names no result where there is none', () => {
    const record = evaluate({ ...inputOf(['a'], []), result: null });
    expect(isValidRecord(record)).toBe(true);
    expect(Object.keys(record).filter((key) => key.startsWith('result/'))).toEqual([]);
  });
});

describe('the schema of evaluations', () => {
  const good = evaluate(inputOf(['a'], [{ ref: 'a', status: 'passed' }]));

  it.each([
    ['a refused run that passed', { ...good, 'refusal/code': 'timed_out' }],
    ['a result without its digest', { ...good, 'result/digest': undefined }],
    ['a digest without its result', { ...good, 'result/ref': undefined }],
    ['another version', { ...good, 'schema/v': 2 }],
    ['another field', { ...good, note: 'x' }],
    ['an unknown refusal', { ...good, passed: false, 'refusal/code': 'tired' }],
    [
      'a check that failed in a run that passed',
      { ...good, checks: [{ 'check/ref': 'a', status: 'failed' }] },
    ],
    ['a run that passed without checks', { ...good, checks: [] }],
    ['a digest of another kind', { ...good, 'verifier/digest': 'a'.repeat(64) }],
    ['no run', { ...good, 'run/ref': '' }],
  ])('has no place for %s', (_, record) => {
    expect(isValidRecord(good)).toBe(true);
    expect(isValidRecord(JSON.parse(JSON.stringify(record)))).toBe(false);
  });
});

import { describe, expect, it } from 'vitest';
import { fakeScreen } from '../testing/fake-host.ts';
import { reportOf } from '../testing/sample-report.ts';
import { toProvingText } from './proving.ts';

const REFUSED = {
  code: 'PROOF_NOT_REPRODUCED',
  severity: 'refuse',
  pointer: '/proof/0',
  message: 'expected PASS, got FAIL',
  fix: 'Correct the commit.',
  acknowledgement: null,
} as const;

describe('the report of proving for a person', () => {
  it('shows of long evidence what it is about and its last lines, where runners sum up', () => {
    const passed = Array.from({ length: 50 }, (_, at) => `ok ${at}`);
    const evidence = ['EXIT_CODE_MISMATCH at tests', ...passed, '# fail 2', ''].join('\n');
    const text = toProvingText(reportOf({ findings: [{ ...REFUSED, evidence }] }), fakeScreen());
    expect(text).toContain('  | EXIT_CODE_MISMATCH at tests\n');
    expect(text).toContain('  | … 40 lines more (--json or --report has all)\n');
    expect(text).toContain('  | # fail 2\n');
    expect(text).not.toContain('  | ok 20\n');
  });

  it('shows short evidence whole', () => {
    const evidence = Array.from({ length: 12 }, (_, at) => `line ${at}`).join('\n');
    const text = toProvingText(reportOf({ findings: [{ ...REFUSED, evidence }] }), fakeScreen());
    expect(text).toContain(evidence.replaceAll('line', '  | line'));
    expect(text).not.toContain('more');
  });

  it('says what the star of a criterion means, where there is one', () => {
    const report = reportOf();
    const [first] = report.criteria;
    expect(toProvingText(report, fakeScreen())).toContain('\n* hidden from solvers\n');
    const criteria = first === undefined ? [] : [first];
    expect(toProvingText({ ...report, criteria }, fakeScreen())).not.toContain('* hidden');
  });
});

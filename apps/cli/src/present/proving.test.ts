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

  it('shows the number of each benchmark in each column, in as many tables as the width asks for', () => {
    const [base, good, cheat] = reportOf().columns;
    if (base === undefined || good === undefined || cheat === undefined)
      throw new Error('no sample');
    const columns = [base, good, ...Array.from({ length: 10 }, () => cheat)];
    const report = reportOf({ columns });
    expect(toProvingText(report, fakeScreen())).toContain(`
criterion   1       2      3   4   5   6   7   8   9  10  11  12
tests       ✔       ✔      ·   ·   ·   ·   ·   ·   ·   ·   ·   ·
work *      ✘ 120   ✔ 50   ·   ·   ·   ·   ·   ·   ·   ·   ·   ·
`);
    expect(toProvingText(report, { ...fakeScreen(), columns: 22 })).toContain(`
criterion   1
tests       ✔
work *      ✘ 120

criterion   2      3
tests       ✔      ·
work *      ✔ 50   ·

criterion   4   5   6
`);
  });

  it('says what the star of a criterion means, where there is one', () => {
    const report = reportOf();
    const [first] = report.criteria;
    expect(toProvingText(report, fakeScreen())).toContain('\n* hidden from solvers\n');
    const criteria = first === undefined ? [] : [first];
    expect(toProvingText({ ...report, criteria }, fakeScreen())).not.toContain('* hidden');
  });
});

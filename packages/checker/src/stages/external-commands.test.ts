import { describe, expect, it } from 'vitest';
import type { ExternalReport, Reporter } from './check-command.ts';
import { decideCheck } from './decide-check.ts';
import { DEFAULT_STAGE_POLICY } from './policy.ts';
import {
  createStageBench,
  MEASURED,
  newId,
  OWNER,
  PARTNER,
  SOLVER,
  type StageBench,
} from './testing/stage-bench.ts';

const KEY = 'f'.repeat(64);
const MACHINE: Reporter = { kind: 'signature', system: 'Diffractometer 7', key: KEY };
const ORD: Reporter = { kind: 'signature', system: 'Open Reaction Database', key: KEY };
const OPERATOR = { kind: 'operator', id: newId('principal'), invitedBy: null } as const;

const said = (fields: Partial<ExternalReport>): ExternalReport => ({
  result: null,
  statement: null,
  evidence: null,
  ...fields,
});
const measured = (fraction: unknown) => said({ evidence: { phase: { fraction } } });

function tryReport(
  bench: StageBench,
  {
    report,
    reporter,
    stage,
    problem = null,
  }: {
    readonly report: ExternalReport;
    readonly reporter: Reporter;
    readonly stage?: string;
    readonly problem?: string | null;
  },
) {
  return bench.try({
    kind: 'report',
    stage: stage ?? bench.check().stages[0]?.key ?? '',
    report,
    reporter,
    evidenceProblem: problem,
  });
}

describe('an external stage that the contract decides', () => {
  it.each([
    [0.6, 'VERIFIED', null],
    [0.4, 'REFUTED', 'REFUTED'],
    ['0.6', 'INCONCLUSIVE', 'CHECK_INCONCLUSIVE'],
  ])('with %j measured is %s by the rule', (fraction, state, reason) => {
    const bench = createStageBench([MEASURED]);
    expect(tryReport(bench, { report: measured(fraction), reporter: MACHINE })).toBeNull();
    expect(bench.check()).toMatchObject({
      state,
      results: [
        { reason, decidedBy: { kind: 'contract', system: 'Diffractometer 7', reporter: KEY } },
      ],
    });
  });

  it('records what the system thinks as a finding, and is not moved by it', () => {
    const bench = createStageBench([MEASURED]);
    const report = { ...measured(0.4), result: 'verified', statement: 'a fine sample' } as const;
    tryReport(bench, { report, reporter: MACHINE });
    expect(bench.check()).toMatchObject({
      state: 'REFUTED',
      results: [{ finding: 'verified: a fine sample' }],
    });
  });

  it('takes no evidence that breaks its schema, and waits for better', () => {
    const bench = createStageBench([MEASURED]);
    const broken = { report: measured(0.6), reporter: MACHINE, problem: '/phase: no phase' };
    expect(tryReport(bench, broken)).toBe('CHECKER_EVIDENCE_REFUSED');
    expect(bench.check().state).toBe('WAITING_EXTERNAL');
  });

  it('takes evidence from an operator who is no party', () => {
    const bench = createStageBench([MEASURED]);
    expect(tryReport(bench, { report: measured(0.6), reporter: OPERATOR })).toBeNull();
    expect(bench.check().results).toMatchObject([{ decidedBy: { reporter: OPERATOR.id } }]);
  });

  it.each([
    ['the owner', { id: OWNER }],
    ['the solver', { id: SOLVER }],
    ['somebody whom the owner invited', { invitedBy: OWNER }],
    ['somebody whom the solver invited', { invitedBy: SOLVER }],
  ])('takes none from an operator who is a party: %s', (_who, tie) => {
    const bench = createStageBench([MEASURED]);
    const own = { report: measured(0.6), reporter: { ...OPERATOR, ...tie } };
    expect(tryReport(bench, own)).toBe('CHECKER_JUDGE_PARTIAL');
  });
});

describe('an external stage that a partner decides', () => {
  it.each([
    ['verified', 'VERIFIED'],
    ['refuted', 'REFUTED'],
    ['inconclusive', 'INCONCLUSIVE'],
  ] as const)("has the partner's judgment, recorded as its own: %s", (result, state) => {
    const bench = createStageBench([PARTNER]);
    const report = said({ result, statement: 'ord-1f' });
    expect(tryReport(bench, { report, reporter: ORD })).toBeNull();
    expect(bench.check()).toMatchObject({
      state,
      results: [
        { message: 'ord-1f', decidedBy: { kind: 'partner', system: ORD.system, key: KEY } },
      ],
    });
  });

  it('takes none without a signature, not even from the operator', () => {
    const bench = createStageBench([PARTNER]);
    const unsigned = { report: said({ result: 'verified' }), reporter: OPERATOR };
    expect(tryReport(bench, unsigned)).toBe('CHECKER_REPORT_UNSIGNED');
  });

  it('takes none that another system signed', () => {
    const bench = createStageBench([PARTNER]);
    const other = { report: said({ result: 'verified' }), reporter: MACHINE };
    expect(tryReport(bench, other)).toBe('CHECKER_REPORT_UNSIGNED');
  });

  it('is not decided by evidence alone', () => {
    const bench = createStageBench([PARTNER]);
    expect(tryReport(bench, { report: measured(1), reporter: ORD })).toBe(
      'CHECKER_JUDGMENT_MISSING',
    );
  });
});

describe('an external stage', () => {
  it('that nobody reports on ends inconclusive, and names the system', () => {
    const bench = createStageBench([PARTNER]);
    expect(bench.advance(DEFAULT_STAGE_POLICY.reportGraceMs - 1).state).toBe('WAITING_EXTERNAL');
    expect(bench.advance(1)).toMatchObject({
      state: 'INCONCLUSIVE',
      results: [
        {
          reason: 'STAGE_UNAVAILABLE',
          mechanism: 'external system "Open Reaction Database"',
          decidedBy: { kind: 'nobody' },
        },
      ],
    });
  });

  it('is named to whoever reports on another', () => {
    const bench = createStageBench([{ ...PARTNER, key: 'first' }]);
    const parts = { report: said({}), reporter: ORD, evidenceProblem: null } as const;
    const command = { kind: 'report', stage: 'frist', ...parts } as const;
    expect(decideCheck(bench.check(), command, bench.context())).toMatchObject({
      error: { message: 'expected a report on "first", which is waited for, got one on "frist"' },
    });
  });

  it('takes no report on another stage, and none twice', () => {
    const bench = createStageBench([
      { ...PARTNER, key: 'first' },
      { ...PARTNER, key: 'second' },
    ]);
    const report = said({ result: 'verified' });
    expect(tryReport(bench, { report, reporter: ORD, stage: 'second' })).toBe(
      'CHECKER_CHECK_NOT_WAITING',
    );
    tryReport(bench, { report, reporter: ORD, stage: 'first' });
    expect(tryReport(bench, { report, reporter: ORD, stage: 'first' })).toBe(
      'CHECKER_CHECK_NOT_WAITING',
    );
  });
});

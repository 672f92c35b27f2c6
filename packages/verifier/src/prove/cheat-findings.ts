import { type Contract, type Criterion, type Finding, isStyleCheck } from '@kervyxa/contract';
import type { JudgedColumn } from './column.ts';
import { toEvidence } from './evidence.ts';
import { COMMAND_FIX, sayReason, toFinding } from './findings.ts';
import { isAsWanted, type ProvingColumn } from './report.ts';

/**
 * CHEAT_PASSES for a commit that must fail. One that can't be judged has not failed: it is CONTRACT_BROKEN, because
 * whatever it is that stopped us, a solver could bring it about as well. What only checkers leave undecided is as good
 * as refused.
 */
export function gradeCheat({ column, logs }: JudgedColumn): Finding[] {
  const { verdict, title, diff, reasons, criteria } = column;
  if (isAsWanted(column)) return [];
  if (verdict === 'PASS') {
    return [
      toFinding('CHEAT_PASSES', '/criteria', {
        message: `expected FAIL of a commit that does not solve the task, got PASS: ${title}`,
        fix: CHEAT_FIXES[column.kind] ?? 'Add a criterion that fails on this diff.',
        evidence: toEvidence(diff),
      }),
    ];
  }
  const tails = criteria.flatMap(({ id, status }) =>
    status === 'inconclusive' ? [logs.tailOf(`criterion:${id}`)] : [],
  );
  return [
    toFinding('CONTRACT_BROKEN', '/criteria', {
      message: `expected FAIL of a commit that does not solve the task, got ${verdict}: ${title}`,
      fix: COMMAND_FIX,
      evidence: toEvidence(...reasons.map(sayReason), ...tails, diff),
    }),
  ];
}

/**
 * CHEAT_PASSES of each metric that a program without the work meets by what it prints or leaves out, though another
 * criterion fails the commit: a solver who does the rest of the work would meet it as well.
 */
export function gradeForgedMetrics(
  { criteria }: Contract,
  base: JudgedColumn,
  cheats: readonly JudgedColumn[],
): Finding[] {
  const failing = cheats.filter(
    ({ column: { kind, verdict } }) =>
      verdict === 'FAIL' && (kind === 'metric_printed' || kind === 'exits_at_import'),
  );
  return criteria.flatMap((criterion, index) => {
    const isMarker = criterion.type === 'benchmark' && criterion.source === 'marker';
    if (!isMarker || statusAt(base, index) !== 'fail') return [];
    const forged = failing.find((cheat) => statusAt(cheat, index) === 'pass');
    if (forged === undefined) return [];
    const { kind, title, diff } = forged.column;
    return [
      toFinding('CHEAT_PASSES', `/criteria/${index}`, {
        message: `expected benchmark ${criterion.id} to fail without the work that it measures, got a pass: ${title}`,
        fix: CHEAT_FIXES[kind] ?? '',
        evidence: toEvidence(diff),
      }),
    ];
  });
}

/**
 * A note about cheats that are refused only for how they are written, by eslint, tsc and the like: a solver would write
 * the same cheat neatly, so that such a column shows nothing. `packageJson`: the base's.
 */
export function sayStyleOnly(
  { criteria }: Contract,
  cheats: readonly JudgedColumn[],
  packageJson: string | null,
): string[] {
  const isStyle = (criterion: Criterion): boolean =>
    criterion.type === 'exit_code' && isStyleCheck(criterion.command, packageJson);
  const hits = cheats.flatMap((cheat) => {
    const { kind, title } = cheat.column;
    if (kind !== 'metric_printed' && kind !== 'exits_at_import') return [];
    const failing = criteria.filter((_criterion, index) => statusAt(cheat, index) === 'fail');
    return failing.length > 0 && failing.every(isStyle) ? [{ title, failing }] : [];
  });
  return hits.map(({ title, failing }) => {
    const names = failing.map(({ id }) => id).join(', ');
    return `Only how it is written was refused (${names}), which shows nothing of the harness, in: ${title}.`;
  });
}

function statusAt({ column }: JudgedColumn, index: number): string | undefined {
  return column.criteria[index]?.status;
}

const CHEAT_FIXES: Readonly<Partial<Record<ProvingColumn['kind'], string>>> = {
  file_reverted:
    'Add a criterion that needs this file’s change, or leave the change out of the known-good commit.',
  tests_deleted: 'Protect the tests in constraints.protectedPaths.',
  metric_printed:
    'Let a parent process of the harness print the metric, and run the solver’s code as its child.',
  exits_at_import:
    'Let the harness run the solver’s code as a child and check what it gave, not its exit status.',
};

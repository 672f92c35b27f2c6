import type { ConformanceReport } from '@kervyxa/checker';
import type { Finding } from '@kervyxa/contract';
import { toPrintable } from '@kervyxa/core';
import { fitChecker, lintCheckers } from '../checker-fit.ts';
import { toInfraReason } from '../infra.ts';
import { type ColumnBench, toBroken } from './column.ts';
import { toEvidence } from './evidence.ts';
import { toFinding } from './findings.ts';

/**
 * CHECKER_UNFIT, CHECKER_NOT_CONFORMANT of the packages that are given; one that is not given shows at the base. Throws
 * VERIFIER_PROVING_BROKEN where something of ours kept fixtures from being run.
 */
export async function proveCheckers({
  deps,
  contract,
  checkers,
  signal,
}: ColumnBench): Promise<Finding[]> {
  const findings = lintCheckers(contract, checkers);
  for (const [index, criterion] of contract.criteria.entries()) {
    if (criterion.type !== 'checker') continue;
    const fit = fitChecker(criterion, checkers);
    if (fit.kind !== 'fits') continue;
    const report = await deps
      .conformance(deps, fit.package, criterion.stage, signal)
      .catch((error: unknown) => {
        const title = `the fixtures of checker package ${fit.package.digest}`;
        throw toBroken(title, [toInfraReason(error, criterion.id, signal)], error);
      });
    if (!report.isConformant) findings.push(toNotConformant(index, report));
  }
  return findings;
}

function toNotConformant(
  index: number,
  { stageKey, problem, fixtures }: ConformanceReport,
): Finding {
  const missed = fixtures.filter(({ ok }) => !ok);
  return toFinding('CHECKER_NOT_CONFORMANT', `/criteria/${index}/checker`, {
    message: `expected the results of its own fixtures from stage ${toPrintable(stageKey, 64)}, but ${problem ?? 'it gives others'}`,
    fix: 'Correct the checker or the fixture, until "kervyxa checker test DIR" is content; the package has another digest then.',
    evidence: toEvidence(...missed.map(({ key, message }) => `${key}: ${message}`)),
  });
}

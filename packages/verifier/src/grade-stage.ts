import type { StageEnd } from '@kervyxa/checker';
import { toPrintable } from '@kervyxa/core';
import { fail, type Grade, inconclusive, PASS } from './grade-end.ts';

/**
 * Grades how a stage of a checker package ended; pure. Only what its program says of the commit is the solver's:
 * verified or refuted. What it does not decide, or can't be asked, is nobody's money; what it breaks on is the
 * package's fault.
 */
export function gradeStage(end: StageEnd): Grade {
  switch (end.kind) {
    case 'verified':
      return { ...PASS, metric: end.score };
    case 'refuted':
      return fail('REFUTED', `expected verified of the checker, got refuted${sayWhy(end.reason)}`);
    case 'inconclusive':
      return inconclusive(
        'CHECK_INCONCLUSIVE',
        `expected verified or refuted of the checker, got inconclusive${sayWhy(end.reason)}`,
      );
    case 'unmet':
      return inconclusive('REQUIREMENTS_UNMET', end.message);
    case 'broken':
      return inconclusive('VERIFIER_BROKEN', `${end.code}: ${end.message}`);
  }
}

function sayWhy(reason: string | null): string {
  return reason === null || reason === '' ? '' : `: ${toPrintable(reason, 300)}`;
}

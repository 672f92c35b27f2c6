import { type Contract, type Criterion, isCountedSource } from '@kervyxa/contract';
import type { TreeArchive } from '@kervyxa/core';
import { type CheckerCriterion, type Checkers, fitChecker } from './checker-fit.ts';

/** One whose commands run in the commit's workspace, or on what they left there. */
export type CommandCriterion = Exclude<Criterion, CheckerCriterion>;

export function isChecker(criterion: Criterion): criterion is CheckerCriterion {
  return criterion.type === 'checker';
}

export function isCommand(criterion: Criterion): criterion is CommandCriterion {
  return !isChecker(criterion);
}

export function isCounted(
  criterion: Criterion,
): criterion is Extract<Criterion, { type: 'benchmark' }> {
  return criterion.type === 'benchmark' && isCountedSource(criterion.source);
}

/** What a verification was given beside the commit. */
export interface GivenInputs {
  readonly contract: Contract;
  readonly verifierPackage: TreeArchive | null;
  readonly dependencies: TreeArchive | null;
  readonly checkers: Checkers;
}

/** Why a criterion can't run here, whatever the commit; null where it can. Pure. */
export function whyUnavailable(
  criterion: Criterion,
  { contract, verifierPackage, dependencies, checkers }: GivenInputs,
): string | null {
  if (!isCommand(criterion)) {
    const fit = fitChecker(criterion, checkers);
    return fit.kind === 'fits' ? null : fit.message;
  }
  if (isCounted(criterion) && criterion.stdoutSha256 === null) {
    return 'the contract does not pin the answer of the work that it counts (stdoutSha256)';
  }
  if (contract.environment.dependencies !== null && dependencies === null) {
    return 'the dependency bundle was not given (kervyxa verify --deps FILE)';
  }
  // A contract may leave the digest to the folder that is given, and then none is.
  if (verifierPackage === null && needsPackage(criterion, contract)) {
    return 'the hidden package was not given (kervyxa verify --package DIR)';
  }
  return null;
}

function needsPackage(criterion: CommandCriterion, contract: Contract): boolean {
  if (criterion.visibility !== 'hidden') return false;
  if (contract.verifierPackage !== null) return true;
  const parts = criterion.type === 'judge_probe' ? [criterion.probe, criterion.judge] : [criterion];
  return parts.some(({ command }) => /KERVYXA_(VERIFIER_PACKAGE|PROBE)\b/.test(command));
}

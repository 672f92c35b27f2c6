import { type CheckerPackage, slotsOfStage, type Stage } from '@kervyxa/checker';
import { type Contract, type Criterion, type Finding, findingOf } from '@kervyxa/contract';
import { toPrintable } from '@kervyxa/core';

export type CheckerCriterion = Extract<Criterion, { type: 'checker' }>;

/** By their digests, of which contracts name some. */
export type Checkers = ReadonlyMap<string, CheckerPackage>;

export type CheckerFit =
  | { readonly kind: 'fits'; readonly package: CheckerPackage }
  | { readonly kind: 'missing' | 'unfit'; readonly message: string };

/**
 * Whether the package of a checker criterion is here, has the stage, and asks for the files that the criterion names;
 * nothing of it hangs on the commit. Pure.
 */
export function fitChecker(criterion: CheckerCriterion, checkers: Checkers): CheckerFit {
  const { checker: named, stage: key } = criterion;
  if (named === null) return missing('the criterion names no checker package');
  const found = checkers.get(named.sha256);
  if (found === undefined) return missing(`checker package ${named.sha256} was not given`);
  const stage = found.contract.stages.find((each) => each.key === key);
  const name = toPrintable(key, 64);
  if (stage === undefined) return unfit(`the checker package has no stage ${name}`);
  const problem = sayMechanism(stage) ?? sayFiles(criterion, found) ?? sayReference(stage, found);
  return problem === null ? { kind: 'fits', package: found } : unfit(`stage ${name} ${problem}`);
}

/** CHECKER_UNFIT, of packages that are given. */
export function lintCheckers({ criteria }: Contract, checkers: Checkers): Finding[] {
  return criteria.flatMap((criterion, index) => {
    if (criterion.type !== 'checker') return [];
    const fit = fitChecker(criterion, checkers);
    if (fit.kind !== 'unfit') return [];
    return [
      findingOf('CHECKER_UNFIT', `/criteria/${index}`, {
        message: `expected a sandbox stage that the criterion fits, but ${fit.message}`,
        fix: 'Name a sandbox stage of the package, and for each role that it requires one file of the commit; "kervyxa checker lint" shows what it has.',
      }),
    ];
  });
}

/** Money never waits for people, nor for somebody else's word. */
function sayMechanism(stage: Stage): string | null {
  switch (stage.kind) {
    case 'sandbox':
      return null;
    case 'review':
      return `is judged in a review, by protocol ${stage.review_protocol_id}: no bounty is decided by one`;
    case 'external':
      return `is settled outside, by ${toPrintable(stage.external_system, 100)}: no bounty is decided by that`;
  }
}

function sayFiles(
  { artifacts, summary }: CheckerCriterion,
  { contract }: CheckerPackage,
): string | null {
  const { required_artifacts: required, accepts_text_only: takesText } =
    contract.submission_requirements;
  const given = artifacts.map(({ role }) => role);
  const unknown = given.find((role) => !required.some((each) => each.role === role));
  if (unknown !== undefined) return `takes no artifact for the role ${unknown}`;
  if (summary !== null && !takesText)
    return 'takes no answer in words, and the criterion names one';
  // The text alone may be the answer.
  if (summary !== null && given.length === 0) return null;
  const absent = required.find(({ role }) => !given.includes(role));
  if (absent !== undefined) return `requires an artifact for the role ${absent.role}`;
  const hasAnswer = given.length > 0 || summary !== null;
  return hasAnswer ? null : 'requires an answer in words, and the criterion names no summary';
}

function sayReference(stage: Stage, { contract, reference }: CheckerPackage): string | null {
  if (stage.kind !== 'sandbox') return null;
  const selected = slotsOfStage(contract, stage);
  const unbound = contract.reference_inputs.find(
    ({ key, required }) => required && selected.includes(key) && !reference.has(key),
  );
  return unbound === undefined
    ? null
    : `requires a reference input ${unbound.key}, which the package’s folder reference/ does not bind`;
}

function missing(message: string): CheckerFit {
  return { kind: 'missing', message: `${message} (kervyxa verify --checker DIR)` };
}

function unfit(message: string): CheckerFit {
  return { kind: 'unfit', message };
}

import { type Contract, isLanguageAllowed } from '@kervyxa/contract';
import { compilePathPattern, type SolverReason, toPrintable } from '@kervyxa/core';
import type { ChangedFile, FetchedCommit } from '@kervyxa/intake';
import type { Reason } from './result.ts';

const CLAIM_TRAILER = /^Kervyxa-Claim:[ \t]*(\S+)[ \t]*$/i;

/** What policy needs of a fetched commit; no I/O hides behind it. */
export type PolicyFacts = Pick<
  FetchedCommit,
  'isDescendant' | 'changedFiles' | 'treeFaults' | 'message'
>;

/**
 * Judges the diff against the contract's constraints before any code of the solver runs. Answers every reason, in
 * the order in which they are published; empty means that policy has nothing against the commit.
 *
 * `claimToken` is the token issued to this solver, or null where the caller issues none and any claim will do.
 */
export function gradePolicy(
  contract: Contract,
  facts: PolicyFacts,
  claimToken: string | null,
): Reason[] {
  if (!facts.isDescendant) {
    const base = contract.repository.baseCommit;
    return [
      reason(
        'NOT_A_DESCENDANT',
        null,
        `expected a descendant of ${base}, got a commit whose history lacks it`,
      ),
    ];
  }
  return [
    ...gradeEmptyDiff(facts.changedFiles),
    ...faultsOf(facts, 'UNSAFE_PATH'),
    ...faultsOf(facts, 'SUBMODULE_CHANGED'),
    ...gradeProtectedPaths(contract, facts.changedFiles),
    ...gradeChangedFileCount(contract, facts.changedFiles),
    ...gradeLanguages(contract, facts.changedFiles),
    ...gradeClaim(contract, facts.message, claimToken),
    ...faultsOf(facts, 'SOURCE_TOO_LARGE'),
    ...faultsOf(facts, 'LFS_POINTER'),
  ];
}

function gradeEmptyDiff(changedFiles: readonly ChangedFile[]): Reason[] {
  if (changedFiles.length > 0) return [];
  return [
    reason(
      'EMPTY_DIFF',
      null,
      'expected a change of the base tree, got a commit with the same tree',
    ),
  ];
}

function faultsOf(facts: PolicyFacts, code: SolverReason): Reason[] {
  return facts.treeFaults
    .filter((fault) => fault.reason === code)
    .map((fault) => reason(code, fault.path, fault.message));
}

function gradeProtectedPaths(contract: Contract, changedFiles: readonly ChangedFile[]): Reason[] {
  const rules = contract.constraints.protectedPaths.map(compilePathPattern);
  const editable = contract.constraints.editablePaths.map(compilePathPattern);
  const reasons: Reason[] = [];
  for (const { path, status } of changedFiles) {
    // A file or link that takes the place of a folder above a protected path counts too (THREATS D08, D09).
    const rule = rules.find(
      (pattern) =>
        pattern.matches(path) || (status !== 'deleted' && pattern.isAncestorOfMatch(path)),
    );
    if (rule !== undefined) {
      const message = `expected ${toPrintable(rule.source)} to stay as it is, got ${say(path)} ${say(status)}`;
      reasons.push(reason('PROTECTED_PATH_CHANGED', path, message));
    } else if (editable.length > 0 && !editable.some((pattern) => pattern.matches(path))) {
      const message = `expected changes under editablePaths only, got ${say(path)} ${say(status)}`;
      reasons.push(reason('PROTECTED_PATH_CHANGED', path, message));
    }
  }
  return reasons;
}

function gradeChangedFileCount(contract: Contract, changedFiles: readonly ChangedFile[]): Reason[] {
  const { maxChangedFiles } = contract.constraints;
  if (changedFiles.length <= maxChangedFiles) return [];
  const message = `expected at most ${maxChangedFiles} changed files, got ${changedFiles.length} (a rename is two)`;
  return [reason('TOO_MANY_CHANGED_FILES', null, message)];
}

function gradeLanguages(contract: Contract, changedFiles: readonly ChangedFile[]): Reason[] {
  const { allowedLanguages, editablePaths } = contract.constraints;
  if (allowedLanguages.length === 0) return [];
  return changedFiles
    .filter(({ path }) => !isLanguageAllowed(path, allowedLanguages, editablePaths))
    .map(({ path }) => {
      const message = `expected files in ${allowedLanguages.join(', ')}, got ${say(path)}`;
      return reason('LANGUAGE_NOT_ALLOWED', path, message);
    });
}

function gradeClaim(contract: Contract, message: string, claimToken: string | null): Reason[] {
  if (contract.submission.claim !== 'trailer') return [];
  const lastParagraph =
    message
      .trimEnd()
      .split(/\n[ \t]*\n/)
      .at(-1) ?? '';
  const tokens = lastParagraph.split('\n').flatMap((line) => CLAIM_TRAILER.exec(line)?.[1] ?? []);
  if (claimToken === null ? tokens.length > 0 : tokens.includes(claimToken)) return [];
  const found = tokens.length === 0 ? 'no such trailer' : 'another token';
  return [
    reason(
      'CLAIM_MISSING',
      null,
      `expected a trailer "Kervyxa-Claim: <token>" with your token, got ${found}`,
    ),
  ];
}

function reason(code: SolverReason, subject: string | null, message: string): Reason {
  return { code, subject, message };
}

function say(text: string): string {
  return toPrintable(text.replace('_', ' '));
}

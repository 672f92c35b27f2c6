import {
  type Contract,
  isLanguageAllowed,
  LIMIT_RANGES,
  modulesInsteadOf,
  readInsteadOf,
} from '@kervyxa/contract';
import {
  compilePathPattern,
  isSpelledOut,
  type PathPattern,
  type SolverReason,
  toPrintable,
} from '@kervyxa/core';
import type { CandidateTree, ChangedFile } from '@kervyxa/intake';
import type { AdditionFate, AdditionRule } from '@kervyxa/sandbox';
import type { Reason } from './result.ts';

const CLAIM_TRAILER = /^Kervyxa-Claim:[ \t]*(\S+)[ \t]*$/i;
const MODE_LINK = '120000';
const MODE_ABSENT = '000000';
const MODE_FILE = '100644';
/** A rule about them is about commits: filling them is what set-up is for. */
const INSTALLED_FOLDERS = new Set(['node_modules', '.venv', 'venv']);
/** Of one code. A commit can change a hundred thousand files, and a result is stored and shown. */
const REASONS_MAX = 100;

/** What policy needs of a tree and its commit; no I/O hides behind it. */
export type PolicyFacts = Pick<
  CandidateTree,
  'isDescendant' | 'changedFiles' | 'treeFaults' | 'message'
> & { baseFiles(): { readonly paths: readonly string[] } };

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
  // No contract allows more, so nothing passes for what is not looked at; and each path is held against each pattern.
  const looked = facts.changedFiles.slice(0, LIMIT_RANGES.maxChangedFiles.max);
  return [
    gradeEmptyDiff(facts.changedFiles),
    faultsOf(facts, 'UNSAFE_PATH'),
    faultsOf(facts, 'SUBMODULE_CHANGED'),
    gradeProtectedPaths(contract, looked, facts),
    gradeChangedFileCount(contract, facts.changedFiles),
    gradeLanguages(contract, looked),
    gradeClaim(contract, facts.message, claimToken),
    faultsOf(facts, 'SOURCE_TOO_LARGE'),
    faultsOf(facts, 'LFS_POINTER'),
  ].flatMap(withinBound);
}

/** Of the changed files those that the constraints on paths and languages refuse, each for itself. */
export function pathsRefused(
  contract: Contract,
  changedFiles: readonly ChangedFile[],
  facts: Pick<PolicyFacts, 'baseFiles'>,
): ReadonlySet<string> {
  const reasons = [
    ...gradeProtectedPaths(contract, changedFiles, facts),
    ...gradeLanguages(contract, changedFiles),
  ];
  return new Set(reasons.flatMap(({ subject }) => subject ?? []));
}

/**
 * Of the base's paths those that no solver may change: when a criterion starts they are as committed, also where code
 * of the solver's ran in set-up.
 */
export function fencedPaths(contract: Contract, basePaths: readonly string[]): string[] {
  const { protectedPaths, editablePaths } = contract.constraints;
  const rules = protectedPaths.map(compilePathPattern);
  const editable = editablePaths.map(compilePathPattern);
  return basePaths.filter(
    (path) =>
      rules.some((rule) => rule.matches(path)) ||
      (editable.length > 0 && !editable.some((pattern) => pattern.matches(path))),
  );
}

/**
 * Of what set-up adds, code of the solver's among it, no criterion finds what a commit may not add either: a protected
 * name, and what is read in place of a file that no solver may change. Elsewhere builds may write: `editablePaths` is
 * about commits. Folders that installers fill stay whole, and so does what is in any folder that set-up made, unless a
 * rule spells the way there.
 */
export function fenceAdditions(
  { constraints }: Contract,
  treePaths: readonly string[],
  keptPaths: readonly string[],
): AdditionRule {
  const rules = constraints.protectedPaths.map(compilePathPattern);
  const spelledOut = rules.filter(({ source }) => isSpelledOut(source));
  const kept = new Set(keptPaths);
  const outranksKept = (path: string): boolean =>
    [...readInsteadOf(path), ...modulesInsteadOf(path)].some((each) => kept.has(each));
  const isRefused = (path: string, mode: string): boolean =>
    outranksKept(path) ||
    rules.some((rule) => touches(rule, { path, status: 'added', baseMode: MODE_ABSENT, mode })) ||
    readInsteadOf(path).some((one) => spelledOut.some((rule) => rule.matches(one)));
  const judgeFolder = (path: string): AdditionFate => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    if (INSTALLED_FOLDERS.has(name)) return 'stays';
    // A cache of what is there anyway, or not of that.
    if (name === '__pycache__') return 'goes';
    if (rules.some((rule) => rule.matches(path) || rule.matchesFolded(path))) return 'goes';
    const isOnTheWay = rules.some((rule) => rule.isAncestorOfMatch(path));
    return isOnTheWay || kept.has(`${path}.py`) ? 'inside' : 'stays';
  };
  return {
    treePaths,
    judge: (path, kind) => {
      if (kind === 'folder') return judgeFolder(path);
      return isRefused(path, kind === 'link' ? MODE_LINK : MODE_FILE) ? 'goes' : 'stays';
    },
  };
}

function withinBound(reasons: Reason[]): Reason[] {
  const [first] = reasons;
  if (first === undefined || reasons.length <= REASONS_MAX) return reasons;
  const left = reasons.length - REASONS_MAX;
  return [
    ...reasons.slice(0, REASONS_MAX),
    { code: first.code, subject: null, message: `the same of ${left} more` },
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

function gradeProtectedPaths(
  contract: Contract,
  changedFiles: readonly ChangedFile[],
  facts: Pick<PolicyFacts, 'baseFiles'>,
): Reason[] {
  const rules = contract.constraints.protectedPaths.map(compilePathPattern);
  const editable = contract.constraints.editablePaths.map(compilePathPattern);
  const hasRival = changedFiles.some(({ path }) => readInsteadOf(path).length > 0);
  const base = new Set(hasRival ? facts.baseFiles().paths : []);
  const reasons: Reason[] = [];
  for (const file of changedFiles) {
    const { path } = file;
    const lower = readInsteadOf(path);
    const rule = rules.find(
      (each) => touches(each, file) || lower.some((one) => isMeant(each, one, base)),
    );
    const what = `${toPrintable(path)} ${toPrintable(file.status.replace('_', ' '))}`;
    if (rule !== undefined) {
      const message = `expected ${toPrintable(rule.source)} to stay as it is, got ${what}`;
      reasons.push(reason('PROTECTED_PATH_CHANGED', path, message));
    } else if (editable.length > 0 && !editable.some((pattern) => pattern.matches(path))) {
      const message = `expected changes under editablePaths only, got ${what}`;
      reasons.push(reason('PROTECTED_PATH_CHANGED', path, message));
    }
  }
  return reasons;
}

/**
 * Besides the path itself: what is put in the place of a folder above a protected path (THREATS D08, D09), and a new
 * spelling of a protected name (D19). A link leads on, so one counts wherever something protected could lie below it,
 * also when it is pointed elsewhere or taken away. A plain file only takes a place that the rule spells out: beside
 * the folders of `packages/` + `*` + `/package.json` an honest solver may add a file.
 */
function touches(
  pattern: PathPattern,
  { path, status, baseMode, mode }: Pick<ChangedFile, 'path' | 'status' | 'baseMode' | 'mode'>,
): boolean {
  if (pattern.matches(path)) return true;
  if (status === 'added' && pattern.matchesFolded(path)) return true;
  if (mode === MODE_LINK || baseMode === MODE_LINK) return pattern.isAncestorOfMatch(path);
  return (status === 'added' || status === 'type_changed') && pattern.spellsAncestor(path);
}

/**
 * What is read in place of a protected file is protected too (H08): of one that the base has, or whose name a rule
 * spells out. A rule of wildcards says nothing of files that are not there.
 */
function isMeant(pattern: PathPattern, path: string, base: ReadonlySet<string>): boolean {
  return (base.has(path) || isSpelledOut(pattern.source)) && pattern.matches(path);
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
      const message = `expected files in ${toPrintable(allowedLanguages.join(', '))}, got ${toPrintable(path)}`;
      return reason('LANGUAGE_NOT_ALLOWED', path, message);
    });
}

function gradeClaim(contract: Contract, message: string, claimToken: string | null): Reason[] {
  if (contract.submission.claim !== 'trailer') return [];
  // Some editors and web forms end lines with CR LF.
  const lastParagraph =
    message
      .replaceAll('\r\n', '\n')
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

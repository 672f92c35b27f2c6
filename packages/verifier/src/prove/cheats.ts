import { type Contract, languagesOf } from '@kervyxa/contract';
import { toPrintable } from '@kervyxa/core';
import type { ChangedFile, FetchedCommit, TreeEdit } from '@kervyxa/intake';
import { pathsRefused } from '../policy.ts';
import { bestMetrics } from './best-metrics.ts';
import {
  isKnownProgram,
  lacksExtension,
  shebangOf,
  withExitAtImport,
  withPrintedLine,
  withRewrittenMetric,
} from './program-edits.ts';
import type { ProvingColumn } from './report.ts';

/** A commit that must fail, as edits of the known-good commit's tree or the base's. */
export interface Cheat {
  readonly id: string;
  readonly kind: ProvingColumn['kind'];
  readonly title: string;
  readonly from: 'commit' | 'base';
  readonly edits: readonly TreeEdit[];
}

export interface CheatPlan {
  readonly cheats: readonly Cheat[];
  /** What no cheat could be made of, each a sentence. */
  readonly notes: readonly string[];
}

/** Columns of one kind; where there are more files, several share one. */
const REVERTS_MAX = 64;
const PROGRAMS_MAX = 16;
/** Columns of each kind that print, where metrics are several; more only where those alone are more. */
const PRINTED_MAX = 32;
const PROGRAM_BYTES_MAX = 1_048_576;
const PATHS_SHOWN = 3;
const TEST_FOLDER = /(?:^|\/)(?:tests?|__tests__)\//i;
/** Such a folder may hold specifications as well, of an interface or a format: only programs in it are tests. */
const SPEC_FOLDER = /(?:^|\/)specs?\//i;
/** A workflow such as .github/workflows/tests.yml tests nothing here, and a commit without it is no cheat. */
const CI_FOLDER = /(?:^|\/)\.(?:github|circleci)\//;
const TEST_FILE = /(?:^|\/)(?:test_[^/]*|tests?\.[^/]+|[^/]*(?:[._-](?:test|spec)s?)\.[^/]+)$/i;

/**
 * Commits that do not solve the task, made from the base and the first known-good commit:
 *
 * 1. nothing changed; 2. every changed file as in the base, one at a time; 3. the tests deleted that may be;
 * 4. on the base, every program file that the commit changes with the best value of each marker metric printed at its
 *    end, 5. or written over what its process prints; 6. the same files leaving with status 0 at import, 7. and that with
 *    the metric printed first.
 */
export async function planCheats(contract: Contract, good: FetchedCommit): Promise<CheatPlan> {
  const { programs, notes } = await readPrograms(good);
  const metrics = bestMetrics(contract);
  const groupsMax = Math.min(PROGRAMS_MAX, Math.ceil(PRINTED_MAX / metrics.length));
  const groups = toGroups(programs, groupsMax);
  const reverts = toReverts(good.changedFiles);
  return {
    cheats: [
      { id: 'empty-diff', kind: 'empty_diff', title: 'Nothing changed', from: 'base', edits: [] },
      ...reverts,
      ...toTestsDeleted(contract, good),
      ...groups.flatMap((group, at) => toPrinted(group, metrics, at + 1)),
      ...groups.flatMap((group, at) => toRewritten(group, metrics, at + 1)),
      ...groups.flatMap((group, at) => toExits(group, metrics, at + 1)),
    ],
    notes: [
      ...sayShared(good.changedFiles.length, reverts.length, 'changed files', 'is needed'),
      ...sayShared(programs.length, groups.length, 'programs', 'is noticed'),
      ...(programs.length > 0 ? [] : [NO_PROGRAM]),
      ...notes,
    ],
  };
}

const NO_PROGRAM =
  'No cheat that prints or leaves at import was made: the known-good commit changes no program that one could be written into.';

/** What several in one column may hide: it fails as soon as one of them is found out. */
function sayShared(count: number, columns: number, what: string, isFound: string): string[] {
  if (count === columns) return [];
  return [
    `${count} ${what} share ${columns === 1 ? 'one column' : `${columns} columns`}: where one of a column ${isFound}, it shows nothing of the others.`,
  ];
}

function toReverts(changed: readonly ChangedFile[]): Cheat[] {
  return toGroups(changed, REVERTS_MAX).map((files, index) => ({
    id: `reverted-${index + 1}`,
    kind: 'file_reverted',
    title: `Known-good without its change of ${sayPaths(files)}`,
    from: 'commit',
    edits: files.map(({ path }) => ({ kind: 'revert', path })),
  }));
}

function looksLikeTest(path: string): boolean {
  if (CI_FOLDER.test(path)) return false;
  if (SPEC_FOLDER.test(path) && isProgram(path)) return true;
  return TEST_FOLDER.test(path) || TEST_FILE.test(path);
}

/**
 * A commit that touches a protected test fails whatever the criteria do, so the tests deleted are those that policy lets
 * go, as many as fit beside the solution; where more would fit without it, the base loses them as well. Where policy
 * keeps every test, all are deleted, to show that.
 */
function toTestsDeleted(contract: Contract, good: FetchedCommit): Cheat[] {
  const tests = good.files().paths.filter(looksLikeTest);
  if (tests.length === 0) return [];
  const tried = good.derive('commit', tests.map(toDeletion));
  const refused = pathsRefused(contract, tried.changedFiles, tried);
  const faulty = new Set(tried.treeFaults.map(({ path }) => path));
  const inBase = new Set(good.baseFiles().paths);
  const own = tests.filter((path) => !inBase.has(path));
  const ofTest = new Set(tests);
  const others = tried.changedFiles.filter(({ path }) => !ofTest.has(path));
  const free = tests.filter((path) => inBase.has(path) && !refused.has(path) && !faulty.has(path));
  const { maxChangedFiles } = contract.constraints;
  const room = Math.max(0, maxChangedFiles - others.length);
  const beside = [...own, ...free.slice(0, room)];
  const deleted = beside.length === 0 && free.length === 0 ? tests : beside;
  return [
    ...(deleted.length === 0 ? [] : [toDeleted('tests-deleted', 'commit', deleted)]),
    ...(free.length <= room
      ? []
      : [toDeleted('tests-deleted-at-base', 'base', free.slice(0, maxChangedFiles))]),
  ];
}

function toDeleted(id: string, from: Cheat['from'], paths: readonly string[]): Cheat {
  const whose = from === 'base' ? 'Base' : 'Known-good';
  return {
    id,
    kind: 'tests_deleted',
    title: `${whose} without its tests: ${sayPaths(paths.map((path) => ({ path })))}`,
    from,
    edits: paths.map(toDeletion),
  };
}

function toDeletion(path: string): TreeEdit {
  return { kind: 'delete', path };
}

interface Program {
  readonly path: string;
  /** As in the base; where the commit adds it, its first line if that names an interpreter. */
  readonly text: Uint8Array;
}

function toPrinted(programs: readonly Program[], metrics: readonly string[], at: number): Cheat[] {
  return metrics.map((line, index) => ({
    id: numbered('metric-printed', at, index),
    kind: 'metric_printed',
    title: `Base, with ${line} printed at the end of ${sayPaths(programs)}`,
    from: 'base',
    edits: toWrites(programs, ({ path, text }) => withPrintedLine(path, text, line)),
  }));
}

function toRewritten(
  programs: readonly Program[],
  metrics: readonly string[],
  at: number,
): Cheat[] {
  return metrics.map((line, index) => ({
    id: numbered('metric-rewritten', at, index),
    kind: 'metric_printed',
    title: `Base, with ${line} written over what is printed after ${sayPaths(programs)}`,
    from: 'base',
    edits: toWrites(programs, ({ path, text }) => withRewrittenMetric(path, text, line)),
  }));
}

function toExits(programs: readonly Program[], metrics: readonly string[], at: number): Cheat[] {
  return [null, ...metrics].map((line, index) => ({
    id: numbered('exits', at, index),
    kind: 'exits_at_import',
    title:
      line === null
        ? `Base, with ${sayPaths(programs)} leaving with status 0 at import`
        : `Base, with ${sayPaths(programs)} printing ${line} and leaving at import`,
    from: 'base',
    edits: toWrites(programs, ({ path, text }) => withExitAtImport(path, text, line)),
  }));
}

function numbered(name: string, at: number, index: number): string {
  return index === 0 ? `${name}-${at}` : `${name}-${at}-${index + 1}`;
}

function toWrites(
  programs: readonly Program[],
  contentOf: (program: Program) => Uint8Array,
): TreeEdit[] {
  return programs.map((program) => ({
    kind: 'write',
    path: program.path,
    content: contentOf(program),
  }));
}

/** The program files that the commit changes, as they are in the base. */
async function readPrograms(
  good: FetchedCommit,
): Promise<{ programs: readonly Program[]; notes: readonly string[] }> {
  const programs: Program[] = [];
  const notes: string[] = [];
  const leaveOut = (path: string, why: string) =>
    notes.push(`No cheat was written into ${toPrintable(path, 300)}: ${why}.`);
  for (const file of good.changedFiles) {
    const { path } = file;
    // What has no extension may be one by its first line.
    const isNamed = isProgram(path);
    if (!isWritable(file) || !(isNamed || lacksExtension(path))) continue;
    const text = await readProgram(good, file);
    if (text === null) {
      if (isNamed) leaveOut(path, `it has more than ${PROGRAM_BYTES_MAX} bytes`);
    } else if (isKnownProgram(path, text)) programs.push({ path, text });
    else if (isNamed || shebangOf(text).length > 0) {
      leaveOut(path, 'it is not JavaScript, TypeScript, Python or shell');
    }
  }
  return { programs, notes };
}

/** A file in the commit, and a file or nothing in the base. */
function isWritable({ status, mode, baseMode }: ChangedFile): boolean {
  return mode.startsWith('100') && (status === 'added' || baseMode.startsWith('100'));
}

function isProgram(path: string): boolean {
  return languagesOf(path)?.types.includes('programming') ?? false;
}

/** Of one that the commit adds only the line that says how to run it. Null where it is too large. */
async function readProgram(good: FetchedCommit, file: ChangedFile): Promise<Uint8Array | null> {
  if (file.status !== 'added') return good.baseFiles().readFile(file.path, PROGRAM_BYTES_MAX);
  const text = await good.files().readFile(file.path, PROGRAM_BYTES_MAX);
  return text === null ? null : shebangOf(text);
}

/** Deals items into at most `groupsMax` groups of neighbours, as even as can be. */
function toGroups<T>(items: readonly T[], groupsMax: number): (readonly T[])[] {
  const size = Math.ceil(items.length / groupsMax);
  return Array.from({ length: size === 0 ? 0 : Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}

function sayPaths(files: readonly { readonly path: string }[]): string {
  const shown = files.slice(0, PATHS_SHOWN).map(({ path }) => toPrintable(path, 300));
  const left = files.length - shown.length;
  return left === 0 ? shown.join(', ') : `${shown.join(', ')} and ${left} more`;
}

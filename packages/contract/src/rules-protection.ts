import { compilePathPattern, patternProblem, toPrintable } from '@kervyxa/core';

import type { Draft, DraftText } from './draft.ts';
import type { BaseFacts } from './facts.ts';
import { findingOf } from './finding-table.ts';
import type { Finding } from './finding.ts';
import { harnessesOf } from './harness.ts';
import { configPlacesOf, isConfigPath, type JudgingTool } from './judging-tools.ts';
import { languagesOf } from './languages.ts';
import { repositoryPathOf } from './script-targets.ts';
import { shellCalls } from './shell-walk.ts';

const PROTECT = '/constraints/protectedPaths';

/** INPUT_NOT_PROTECTED: whoever may edit the question can fit it to the answer. */
export function lintInputs(draft: Draft, facts: BaseFacts | null): Finding[] {
  const findings = draft.inputs
    .filter(({ text }) => patternProblem(text) === null && !isCovered(text, draft, facts))
    .map(({ text, pointer }) => inputFinding(text, pointer));
  return [...findings, ...argumentFindings(draft, facts), ...referenceFindings(draft, facts)];
}

function inputFinding(path: string, pointer: string): Finding {
  const name = toPrintable(path, 100);
  return findingOf('INPUT_NOT_PROTECTED', pointer, {
    message: `expected "${name}" under a protected path, got a path that the solver may edit`,
    fix: `Add "${name}" to constraints.protectedPaths.`,
  });
}

/** A folder or pattern is covered where everything that it can match is. */
function isCovered(source: string, draft: Draft, facts: BaseFacts | null): boolean {
  if (patternProblem(source) !== null) return !draft.isEditable(source);
  if (
    draft.protectedPaths.some(({ text }) => text.replace(/\/$/, '') === source.replace(/\/$/, ''))
  ) {
    return true;
  }
  const plain = source.replace(/\/$/, '');
  const isFile = facts?.paths.includes(plain) === true;
  if (!/[*?]/.test(plain) && !draft.isEditable(plain)) return true;
  const pattern = compilePathPattern(source);
  const inBase = facts?.paths.filter((path) => pattern.matches(path)) ?? [];
  if (inBase.some((path) => draft.isEditable(path))) return false;
  // Nor may the solver add one more: to what a folder holds, or to what a pattern matches.
  const added = plain.replaceAll('**', 'any').replaceAll('*', 'any').replaceAll('?', 'a');
  return !draft.isEditable(/[*?]/.test(plain) ? added : isFile ? plain : `${plain}/any`);
}

// Kinds that turn frozen files into something. Elsewhere a data file may be what the solver is to change.
const KINDS_WITH_INPUTS = new Set([
  'data_transform',
  'document_extraction',
  'benchmark',
  'model_evaluation',
]);

/** Data files of the base that a command is given, whether or not the contract lists them as inputs. */
function argumentFindings(draft: Draft, facts: BaseFacts | null): Finding[] {
  if (facts === null || !KINDS_WITH_INPUTS.has(draft.kind ?? '')) return [];
  const inBase = new Set(facts.paths);
  const known = new Set(draft.inputs.map(({ text }) => text));
  const findings = new Map<string, Finding>();
  for (const { text, pointer } of draft.criteria.flatMap(({ commands }) => commands)) {
    for (const { words } of shellCalls(text)) {
      for (const word of words.slice(1)) {
        const path = word === null ? null : repositoryPathOf(word);
        if (path === null || !inBase.has(path) || known.has(path)) continue;
        if (isCode(path) || !draft.isEditable(path) || findings.has(path)) continue;
        findings.set(path, inputFinding(path, pointer));
      }
    }
  }
  return [...findings.values()];
}

function isCode(path: string): boolean {
  const types = languagesOf(path)?.types ?? [];
  return types.includes('programming') || types.includes('markup');
}

function referenceFindings(draft: Draft, facts: BaseFacts | null): Finding[] {
  return harnessesOf(draft, facts).flatMap(({ criterion, harness }) =>
    harness.references
      .filter((paths) => paths.every((path) => draft.isEditable(path)))
      .map((paths) =>
        inputFinding(paths.join('" or "'), criterion.judging?.pointer ?? criterion.pointer),
      ),
  );
}

/** HARNESS_NOT_PROTECTED: whoever may edit the judge is the judge. */
export function lintHarness(draft: Draft, facts: BaseFacts | null): Finding[] {
  return harnessesOf(draft, facts).flatMap(({ criterion, harness }) =>
    harness.scripts
      .filter((path) => draft.isEditable(path) && !isSolversTest(path, draft))
      .map((path) => {
        const name = toPrintable(path, 100);
        return findingOf('HARNESS_NOT_PROTECTED', criterion.judging?.pointer ?? criterion.pointer, {
          message: `expected "${name}", whose answer decides, under a protected path; the solver may edit it`,
          fix: `Add "${name}" to constraints.protectedPaths, or judge what it makes by another command (&& cmp, && sha256sum -c).`,
        });
      }),
  );
}

/** Where tests are what is bought, the solver writes them; hidden criteria judge their worth. */
function isSolversTest(path: string, { kind }: Draft): boolean {
  return kind === 'test_creation' && TEST_FILE.test(path);
}

/** CONFIG_NOT_PROTECTED: one finding a tool, naming all that is open. */
export function lintConfig(draft: Draft, facts: BaseFacts | null): Finding[] {
  const used = harnessesOf(draft, facts).flatMap(({ harness }) => harness.tools);
  const tools = new Map(
    [...used, ...installedProgramsOf(used, draft, facts)].map((tool) => [
      JSON.stringify(tool),
      tool,
    ]),
  );
  const folders = foldersToTry(draft);
  return [...tools.values()].flatMap((tool) => {
    const open = configPlacesOf(tool, folders).filter(({ path }) => isOpenTo(tool, path, draft));
    if (open.length === 0) return [];
    const names = [...new Set(open.map(({ protect }) => protect))];
    return [
      findingOf('CONFIG_NOT_PROTECTED', PROTECT, {
        message: `expected the configuration of ${toPrintable(tool.name, 200)} under protected paths, got ${names.length === 1 ? '1 name' : `${names.length} names`} that the solver may edit or add`,
        fix: `Add ${names.map((name) => `"${toPrintable(name, 100)}"`).join(', ')}: names that are absent today count too. Or name what the solver may edit in editablePaths, or acknowledge it.`,
      }),
    ];
  });
}

function isOpenTo({ asksLanguage }: JudgingTool, path: string, draft: Draft): boolean {
  return asksLanguage === true ? draft.letsChange(path) : draft.isEditable(path);
}

const CLEAN_INSTALL = /\bnpm\s+(--?\S+\s+)*(ci|clean-install)\b/;

/**
 * What npm and its like put on PATH before the system's programs (THREATS H22). A clean install replaces it by what
 * the lock file says, and there a package may be said to bring a program called `node`.
 */
function installedProgramsOf(
  tools: readonly JudgingTool[],
  { setup }: Draft,
  facts: BaseFacts | null,
): JudgingTool[] {
  const name = tools.find(({ runsInstalled }) => runsInstalled === true)?.name;
  if (name === undefined) return [];
  if (setup.some(({ text }) => CLEAN_INSTALL.test(text))) {
    const configs = ['package-lock.json', 'npm-shrinkwrap.json'];
    return [{ name: `npm ci, whose programs ${name} finds first`, configs }];
  }
  const inBase = facts?.paths.some((path) => path.startsWith('node_modules/')) === true;
  const configs = inBase ? ['node_modules/'] : ['node_modules/.bin/'];
  return [{ name: `${name}, which finds these programs first`, configs, asksLanguage: !inBase }];
}

/** Folders that stand for all: a made-up one and those that the solver may surely write to. */
function foldersToTry({ criteria }: Draft): string[] {
  const named = criteria.flatMap(({ path }) => (path?.includes('/') === true ? [path] : []));
  return ['any', ...named.map((path) => path.slice(0, path.lastIndexOf('/')))];
}

/** PROTECTED_PATH_MATCHES_NOTHING: mostly a spelling mistake, and then what was meant is open. */
export function lintUnmatchedPaths(draft: Draft, facts: BaseFacts | null): Finding[] {
  if (facts === null) return [];
  const places = [...draft.protectedPaths, ...draft.inputs].filter(
    ({ text }) => patternProblem(text) === null,
  );
  return findUnmatched(places, facts).map(({ text, pointer }) =>
    findingOf('PROTECTED_PATH_MATCHES_NOTHING', pointer, {
      message: `expected a path of the base tree, got "${toPrintable(text, 100)}", which is not there`,
      fix: 'Correct the spelling (case counts), or acknowledge it where the path must stay absent.',
    }),
  );
}

function findUnmatched(places: readonly DraftText[], { paths }: BaseFacts): DraftText[] {
  const unmatched = new Map(
    places
      .map((place) => [place, compilePathPattern(place.text)] as const)
      .filter(([, pattern]) => !isConfigPath(pattern)),
  );
  // All that are left for one path after the other: the matcher takes a path apart once while it stays the same.
  for (const path of paths) {
    if (unmatched.size === 0) break;
    for (const [place, pattern] of unmatched) if (pattern.matches(path)) unmatched.delete(place);
  }
  return [...unmatched.keys()];
}

// Names and folders by which the usual runners find tests.
const TEST_FILE =
  /(^|\/)(tests?|__tests__|spec)\/|(^|[./_-])(test|spec)s?\.[a-z]+$|(^|\/)test_[^/]+\.py$/i;

/** TEST_COUNT_UNGUARDED: a run without tests succeeds. */
export function lintTestCount(draft: Draft, facts: BaseFacts | null): Finding[] {
  return [...lintMissingTestsAllowed(draft), ...lintOpenTests(draft, facts)];
}

/** A runner that is told to succeed without tests judges nothing where its pattern matches none. */
function lintMissingTestsAllowed(draft: Draft): Finding[] {
  return draft.criteria.flatMap(({ judging, type }) => {
    if (judging === null || type === 'file_assertion') return [];
    const option = shellCalls(judging.text)
      .flatMap(({ words }) => words)
      .find(
        (word) => word !== null && /^--(pass-?with-?no-?tests|allow-empty)(=true)?$/i.test(word),
      );
    if (typeof option !== 'string') return [];
    return [
      findingOf('TEST_COUNT_UNGUARDED', judging.pointer, {
        message: `expected a test run that fails without tests, got ${toPrintable(option, 50)}`,
        fix: 'Drop the option, or count passed tests in a hidden criterion and acknowledge this.',
      }),
    ];
  });
}

function lintOpenTests(draft: Draft, facts: BaseFacts | null): Finding[] {
  if (facts === null) return [];
  // A workflow such as .github/workflows/tests.yml tests nothing here.
  const tests = facts.paths.filter(
    (path) => TEST_FILE.test(path) && !/(^|\/)(node_modules|\.github|\.circleci)\//.test(path),
  );
  const open = tests.filter((path) => draft.isEditable(path));
  const hasHidden = draft.criteria.some(({ visibility }) => visibility === 'hidden');
  const isGuarded = tests.length > 0 ? open.length === 0 : hasHidden;
  if (isGuarded) return [];
  return harnessesOf(draft, facts).flatMap(({ criterion, harness }) => {
    if (!harness.tools.some(({ runsTests }) => runsTests === true)) return [];
    const [example] = open;
    const got =
      example === undefined ? 'no test' : `"${toPrintable(example, 100)}", which can be emptied`;
    return [
      findingOf('TEST_COUNT_UNGUARDED', criterion.judging?.pointer ?? criterion.pointer, {
        message: `expected tests that the solver can't take away, got ${got}`,
        fix: 'Protect the existing tests, or count passed tests in a hidden criterion and acknowledge this.',
      }),
    ];
  });
}

const CLOCKS =
  /\bDate\.now\b|\bnew Date\(\s*\)|\bperformance\.(now|mark|measure)\b|\bprocess\.(hrtime|cpuUsage)\b|\bconsole\.time\b|\btime\.(time|perf_counter|monotonic|process_time|thread_time)(_ns)?\b|\bdatetime\.(now|utcnow|datetime\.now)\b|\btimeit\b|\bclock_gettime\b|\bgettimeofday\b|\bstd::chrono\b|\bInstant::now\b|\btime\.Now\(|\bSystem\.(nanoTime|currentTimeMillis)\b|\bdate\s+['"]?\+|\$\{?(SECONDS|EPOCHREALTIME|EPOCHSECONDS)\b|(^|[;&|]\s*|\/usr\/bin\/)time\s+-?\w/;

/** CLOCK_IN_HARNESS: a number that was clocked, whatever its unit says. */
export function lintClocks(draft: Draft, facts: BaseFacts | null): Finding[] {
  return harnessesOf(draft, facts).flatMap(({ criterion, harness }) => {
    const { type, judging } = criterion;
    if (type !== 'benchmark' || judging === null) return [];
    const texts: [string, string][] = [
      ['the command', judging.text],
      ...harness.scripts.map((path): [string, string] => [path, facts?.files.get(path) ?? '']),
    ];
    return texts.flatMap(([where, text]) => {
      const match = CLOCKS.exec(text);
      if (match === null) return [];
      return [
        findingOf('CLOCK_IN_HARNESS', judging.pointer, {
          message: `expected a harness that counts, got ${toPrintable(match[0].trim(), 50)} in ${toPrintable(where, 100)}`,
          fix: 'Take the clock out of what decides, or acknowledge it where it only prints for people.',
        }),
      ];
    });
  });
}

const LINK_FINDINGS_MAX = 10;

/** PROTECTED_LINK_OPEN: what is read under a protected name may lie where the solver writes. */
export function lintProtectedLinks(draft: Draft, facts: BaseFacts | null): Finding[] {
  if (facts?.links === undefined) return [];
  const rules = draft.protectedPaths
    .filter(({ text }) => patternProblem(text) === null)
    .map(({ text }) => compilePathPattern(text));
  const findings: Finding[] = [];
  for (const [path, target] of facts.links) {
    if (findings.length === LINK_FINDINGS_MAX) break;
    const place = repositoryPathOf(target, path.split('/').slice(0, -1).join('/'));
    if (place === null) continue;
    // A rule about something behind the link speaks of that alone.
    const ends = rules.flatMap((rule) => {
      if (rule.matches(path)) return [place];
      return rule.spellsAncestor(path) ? [`${place}${rule.source.slice(path.length)}`] : [];
    });
    const open = ends.find((end) => !isCovered(end, draft, facts));
    if (open === undefined) continue;
    const [link, name] = [toPrintable(path, 100), toPrintable(open, 100)];
    findings.push(
      findingOf('PROTECTED_LINK_OPEN', PROTECT, {
        message: `expected what lies behind the protected link "${link}" to be protected, got "${name}", which the solver may edit`,
        fix: `Add "${name}" to constraints.protectedPaths, or acknowledge it.`,
      }),
    );
  }
  return findings;
}

/** CONTRACT_BROKEN: Git LFS files arrive as pointers, and what no file system takes does not arrive at all. */
export function lintBaseTree(facts: BaseFacts | null): Finding[] {
  const broken: { message: string; fix: string }[] = [];
  const [pointer] = facts?.lfsPointers ?? [];
  if (pointer !== undefined) {
    broken.push({
      message: `expected plain files in the base tree, got ${facts?.lfsPointers.length ?? 0} Git LFS pointers, the first at "${toPrintable(pointer, 100)}"`,
      fix: 'Commit the files themselves, or choose a base without them.',
    });
  }
  const problem = facts?.layoutProblem ?? null;
  if (problem !== null) {
    broken.push({
      message: `expected a base tree that a workspace can hold, but ${toPrintable(problem, 400)}`,
      fix: 'Rename or remove it, and choose a base without it: every commit would bring it along.',
    });
  }
  return broken.map((text) => findingOf('CONTRACT_BROKEN', '/repository/baseCommit', text));
}

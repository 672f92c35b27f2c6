import { COUNTED_SOURCES } from './criterion-schema.ts';
import type { Draft, DraftCriterion } from './draft.ts';
import type { BaseFacts } from './facts.ts';
import { judgingToolsOf, namedConfigOf, type JudgingTool } from './judging-tools.ts';
import { rootScriptOf } from './npm-scripts.ts';
import {
  environmentFilesOf,
  environmentFolderOf,
  pythonShadowsOf,
  variablesOf,
} from './outranking.ts';
import { npmScript } from './package-json.ts';
import {
  preloadsOf,
  pythonModuleFiles,
  repositoryPathOf,
  scriptTargetOf,
  type ScriptTarget,
} from './script-targets.ts';
import { comparedFiles, outputsOf } from './shell-files.ts';
import { isRealCall, judgingCalls } from './shell-judges.ts';
import { shellCalls } from './shell-walk.ts';
import { unwrapWords, wordsOf, type LiteralWord } from './shell-words.ts';

/** What of the repository decides a criterion. */
export interface Harness {
  /** Scripts whose exit status or printed number decides. */
  readonly scripts: readonly string[];
  /** Files with expected answers: of each list, one at least must be out of the solver's reach. */
  readonly references: readonly (readonly string[])[];
  readonly tools: readonly JudgingTool[];
}

// Numbers that the runner takes of what the command leaves behind: the command only produces.
const RUNNER_TAKEN = new Set(['artifact_bytes', 'artifact_lines']);
const CHECKING_NAME =
  /(^|[/._-])(check|verify|validate|test|spec|bench|assert|smoke|measure|judge|grade|score)/i;
const NPM_NESTING_MAX = 8;

/** Reads a criterion's judging command, through npm scripts where the base's package.json is known. */
export function harnessOf(criterion: DraftCriterion, facts: BaseFacts | null): Harness {
  const { judging, type, source } = criterion;
  // No file of the repository judges what a probe left.
  if (judging === null || type === 'file_assertion' || type === 'judge_probe') return NOTHING;
  if (type === 'benchmark' && RUNNER_TAKEN.has(source ?? '')) return NOTHING;
  // A counted program is the code under test itself: it is held to a pinned answer, and can not say its count.
  const isCounted = COUNTED_SOURCES.some((counted) => counted === source);
  const answers = type !== 'benchmark' || !isCounted;
  return harnessOfCommand(judging.text, { facts, answers, depth: 0, seen: new Set() });
}

const NOTHING: Harness = { scripts: [], references: [], tools: [] };

/** Scripts of the base that the judge of a judge_probe names, though none of them is in its container. */
export function judgeScriptsOf(
  { type, judging }: DraftCriterion,
  facts: BaseFacts | null,
): string[] {
  if (type !== 'judge_probe' || judging === null || facts === null) return [];
  // It may stand in the package, where a name means another file.
  if (shellCalls(judging.text).some(({ words }) => words[0] === 'cd')) return [];
  const reading = { facts, answers: true, depth: 0, seen: new Set<string>() };
  return harnessOfCommand(judging.text, reading).scripts.filter((path) =>
    facts.paths.includes(path),
  );
}

interface Reading {
  readonly facts: BaseFacts | null;
  /** Whether the command's own answer decides; else only what is called a check or a benchmark is a judge. */
  readonly answers: boolean;
  readonly depth: number;
  /** npm scripts that were read: two that name each other often would be read without end. */
  readonly seen: Set<string>;
}

function harnessOfCommand(command: string, reading: Reading): Harness {
  if (reading.depth > NPM_NESTING_MAX) return NOTHING;
  const judges = reading.answers ? judgingCalls(command).filter(isRealCall) : [];
  const calls = shellCalls(command);
  const others = calls.map(({ words }) => words);
  const folders = foldersOf(others);
  const found = [
    ...judges.map((words) => harnessOfCall(words, reading, { judges: true, folders })),
    ...others.map((words) => harnessOfCall(words, reading, { judges: false, folders })),
  ];
  const outputs = outputsOf(command, null);
  const isHiddenCopy = copiedFromPackage(others);
  const variables = variablesOf(command);
  const scripts = [...variables.scripts, ...found.flatMap(({ scripts: paths }) => paths)];
  return {
    scripts: [...new Set(scripts)].filter((path) => !isHiddenCopy(path)),
    // Two outputs compared with each other ask for no reference.
    references: found
      .flatMap(({ references }) => references)
      .filter((paths) => !paths.every((path) => outputs.has(path))),
    tools: distinct([
      ...variables.folders,
      ...calls.flatMap(({ node }) => wrappersOf(wordsOf(node))),
      ...found.flatMap(({ tools }) => tools),
    ]),
  };
}

/** Programs that run another one, after they have read what their own configuration wants loaded: `nyc mocha`. */
function wrappersOf(words: readonly LiteralWord[]): JudgingTool[] {
  const inner = unwrapWords(words);
  return words
    .slice(0, words.length - inner.length)
    .flatMap((word) => judgingToolsOf([word]))
    .filter(({ runsTests, readsStyle }) => runsTests !== true && readsStyle !== true);
}

/** The same tool with the same places counts once, however often it is called. */
function distinct(tools: readonly JudgingTool[]): JudgingTool[] {
  return [...new Map(tools.map((tool) => [JSON.stringify(tool), tool])).values()];
}

/** Whether a path is what `cp "$KERVYXA_VERIFIER_PACKAGE/…" DEST` has just put there. */
function copiedFromPackage(calls: readonly (readonly LiteralWord[])[]): (path: string) => boolean {
  const targets = calls.flatMap(([program, ...args]) => {
    const isCopy = program === 'cp' || program === 'install';
    const target = args.at(-1);
    if (!isCopy || !args.includes(null) || typeof target !== 'string') return [];
    return [repositoryPathOf(target) ?? ''];
  });
  return (path) =>
    targets.some((target) => target === '' || target === path || path.startsWith(`${target}/`));
}

/** Where a command line may stand: the root, and every folder that a `cd` leads to. */
function foldersOf(calls: readonly (readonly LiteralWord[])[]): string[] {
  const folders = [''];
  for (const [program, target] of calls) {
    if (program !== 'cd' || typeof target !== 'string') continue;
    const folder = repositoryPathOf(target, folders.at(-1));
    if (folder !== null) folders.push(folder);
  }
  return folders;
}

/** Of a path as read from each folder, the one that the base has; else as read from the last. */
function pickPath(paths: readonly (string | null)[], facts: BaseFacts | null): string[] {
  const possible = paths.filter((path) => path !== null);
  const inBase = possible.findLast((path) => facts?.paths.includes(path) === true);
  return [inBase ?? possible.at(-1)].filter((path) => path !== undefined);
}

function harnessOfCall(
  words: readonly LiteralWord[],
  reading: Reading,
  { judges, folders }: { readonly judges: boolean; readonly folders: readonly string[] },
): Harness {
  const { facts, depth, seen } = reading;
  const tools = toolsOf(words, { judges, folders, facts });
  const references = judges ? referencesOf(words) : [];
  const target = scriptTargetOf(words);
  if (target?.kind === 'npm_script') {
    // Behind a `cd`, or with --workspace and the like, it is another package.json's.
    const name = folders.length > 1 ? null : rootScriptOf(words);
    const script = name === null ? null : npmScript(facts, name);
    const isNew = !seen.has(target.name);
    seen.add(target.name);
    const inner =
      script === null || !isNew
        ? NOTHING
        : harnessOfCommand(script, { ...reading, depth: depth + 1 });
    return { ...inner, tools: [...tools, ...inner.tools] };
  }
  const paths =
    target?.kind === 'python_module'
      ? moduleFiles(target.module, facts)
      : pickPath(
          folders.map((folder) => fileOf(scriptTargetOf(words, folder))),
          facts,
        );
  const preloads = judges ? preloadsOf(words, folders.at(-1)) : [];
  const scripts = [...preloads, ...paths].filter(
    (path) => !path.includes('node_modules/') && (judges || CHECKING_NAME.test(path)),
  );
  return { scripts, references, tools };
}

/** The tools that have a say in a call, each with what it reads there, and what comes before the program itself. */
function toolsOf(
  words: readonly LiteralWord[],
  {
    judges,
    folders,
    facts,
  }: {
    readonly judges: boolean;
    readonly folders: readonly string[];
    readonly facts: BaseFacts | null;
  },
): JudgingTool[] {
  const chosen = chosenFolders(words, folders);
  const places = chosen.length > 0 ? chosen : folders;
  const tools = judgingToolsOf(words).map((tool): JudgingTool => {
    const named = namedConfigOf(tool, words);
    const configs = [
      ...places.flatMap((folder) => tool.configs.map((name) => within(folder, name))),
      ...(named === null ? [] : pickPath(fromEach(named, folders), facts)),
    ];
    if (tool.configsAbove === undefined) return { ...tool, configs };
    const names = tool.configsAbove;
    const above = foldersAbove(words, folders, facts);
    return {
      ...tool,
      configsAbove: above.flatMap((folder) => names.map((name) => within(folder, name))),
    };
  });
  if (!judges && tools.length === 0) return [];
  const runsTests = tools.some((tool) => tool.runsTests === true);
  const others = [
    pythonShadowsOf(words, { folders, runsTests }),
    environmentFolderOf(words),
    environmentFilesOf(words),
  ];
  return [...tools, ...others.filter((tool) => tool !== null)];
}

function within(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}

const FOLDER_OPTION = /^(-C|--prefix|--dir|--cwd|--directory|--rootdir|--root)$/;

/** Folders that an option sends the program to: `make -C sub`, `npm --prefix=sub`. */
function chosenFolders(words: readonly LiteralWord[], folders: readonly string[]): string[] {
  return words.flatMap((word, index) => {
    const [option = '', joined] = word?.split('=', 2) ?? [];
    const value = FOLDER_OPTION.test(option) ? (joined ?? words[index + 1] ?? null) : null;
    return value === null ? [] : (repositoryPathOf(value, folders.at(-1)) ?? []);
  });
}

/** The folders that arguments lie in or are, and all above them, the root included. */
function foldersAbove(
  words: readonly LiteralWord[],
  folders: readonly string[],
  facts: BaseFacts | null,
): string[] {
  const isInBase = (path: string) =>
    facts?.paths.some((each) => each === path || each.startsWith(`${path}/`)) === true;
  const paths = words
    .slice(1)
    .flatMap((word) => (word === null || word.startsWith('-') ? [] : fromEach(word, folders)))
    .filter((path) => path !== null)
    .filter(isInBase);
  const above = [...folders, ...paths].flatMap((path) => {
    const names = path.split('/').filter((name) => name !== '');
    return names.map((_, index) => names.slice(0, index + 1).join('/'));
  });
  return [...new Set(['', ...above.filter((path) => facts?.paths.includes(path) !== true)])];
}

function fileOf(target: ScriptTarget | null): string | null {
  return target?.kind === 'file' ? target.path : null;
}

function fromEach(word: string, folders: readonly string[]): (string | null)[] {
  return folders.map((folder) => repositoryPathOf(word, folder));
}

/** A module is a script of the repository only where the base has it; else it is a tool of the image. */
function moduleFiles(module: string, facts: BaseFacts | null): string[] {
  return pythonModuleFiles(module).filter((path) => facts?.paths.includes(path) === true);
}

function referencesOf(words: readonly LiteralWord[]): (readonly string[])[] {
  const files = comparedFiles(words);
  // A word that is not fixed may name the hidden package; `-` and none at all are standard input.
  if (files === null || files.length === 0 || files.some((file) => file === null)) return [];
  const paths = files.filter((file) => file !== null).map((file) => file.replace(/^\.\//, ''));
  return paths.some((path) => path.startsWith('/')) ? [] : [paths];
}

type CriterionHarness = { readonly criterion: DraftCriterion; readonly harness: Harness };

// Several rules ask for the same; the answer lives as long as the draft it is about.
const remembered = new WeakMap<Draft, { facts: BaseFacts | null; list: CriterionHarness[] }>();

/** The harness of every criterion of a draft, beside it. */
export function harnessesOf(draft: Draft, facts: BaseFacts | null): readonly CriterionHarness[] {
  const known = remembered.get(draft);
  if (known !== undefined && known.facts === facts) return known.list;
  const list = draft.criteria.map((criterion) => ({
    criterion,
    harness: harnessOf(criterion, facts),
  }));
  remembered.set(draft, { facts, list });
  return list;
}

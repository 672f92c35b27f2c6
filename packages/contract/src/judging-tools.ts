import type { PathPattern } from '@kervyxa/core';

import { JUDGING_TOOLS } from './tool-configs.ts';
import type { LiteralWord } from './shell-words.ts';

/**
 * A tool whose answer depends on configuration that lies in the repository. A name that is absent from the base
 * counts: the solver may add it (THREATS H06, H08). One that ends with `/` is a folder, `*` any name.
 */
export interface JudgingTool {
  readonly name: string;
  /** Paths below the folder that it is run in. */
  readonly configs: readonly string[];
  /** Names that count in any folder. */
  readonly configsAnywhere?: readonly string[];
  /** Names that count in the folders of its arguments, and in all above them. */
  readonly configsAbove?: readonly string[];
  /** It runs tests, and succeeds when tests are missing or none is there (THREATS H04). */
  readonly runsTests?: boolean;
  /** It looks at how the text is written, and runs nothing of it. */
  readonly readsStyle?: boolean;
  /** It runs programs of installed packages, before those of the system (THREATS H22). */
  readonly runsInstalled?: boolean;
  /** Programs and modules: open are only names that `allowedLanguages` let a solver use. */
  readonly asksLanguage?: boolean;
}

const BY_NAME = new Map(JUDGING_TOOLS.map((tool) => [tool.name, tool]));
const NPX: JudgingTool = { name: 'npx', configs: ['.npmrc'], runsInstalled: true };
const PYTHON = /^python[\d.]*$/;

/** The tool that the words run, behind `npx`, `npm exec`, `python -m` or a path into `node_modules`, or null. */
export function judgingToolOf(words: readonly LiteralWord[]): JudgingTool | null {
  const [program, ...args] = words;
  if (typeof program !== 'string') return null;
  const [first] = args;
  if (program === 'node' && args.some((word) => word?.startsWith('--test') === true))
    return toolNamed('node --test');
  if (program === 'node' && args.some((word) => /^--run(=|$)/.test(word ?? '')))
    return toolNamed('node --run');
  if (program === 'go') return toolNamed(`go ${first ?? ''}`);
  if ((program === 'bun' || program === 'deno') && first === 'test')
    return toolNamed(`${program} test`);
  return toolNamed(toolName(program, args));
}

/** Every tool that has a say in what the words do: what runs the tool as well, and what the tool runs. */
export function judgingToolsOf(words: readonly LiteralWord[]): JudgingTool[] {
  const found: (JudgingTool | null)[] = [judgingToolOf(words)];
  let rest: readonly LiteralWord[] | null = words;
  for (let depth = 0; rest !== null && depth < NESTING_MAX; depth += 1) {
    const [program] = rest;
    const isNpx = packageOfNpx(rest) !== null;
    found.push(isNpx ? runnerOfNpx(program ?? '') : judgingToolOf(rest));
    rest = wordsBehind(rest);
  }
  return [...new Set(found.filter((tool) => tool !== null))];
}

const NESTING_MAX = 8;

function toolNamed(name: string): JudgingTool | null {
  return BY_NAME.get(ALIASES[name] ?? name) ?? null;
}

const ALIASES: Readonly<Record<string, string>> = {
  gradlew: 'gradle',
  mvnw: 'mvn',
  'py.test': 'pytest',
  'markdownlint-cli': 'markdownlint',
  pre_commit: 'pre-commit',
  '@biomejs/biome': 'biome',
};

function runnerOfNpx(program: string): JudgingTool | null {
  return program === 'npx' || program === 'bunx' || program === 'pnpx' ? NPX : toolNamed(program);
}

// Programs that run what follows a word of theirs, in the environment of a project.
const RUN_WORDS: Readonly<Record<string, readonly string[]>> = {
  uv: ['run'],
  poetry: ['run'],
  pdm: ['run'],
  hatch: ['run'],
  pipenv: ['run'],
  coverage: ['run'],
  bundle: ['exec'],
  direnv: ['exec'],
  yarn: ['run'],
  pnpm: ['run'],
  bun: ['run'],
};

/** The words that a runner of programs runs: `npx jest -i` is `jest -i`, `coverage run -m pytest` the module. */
function wordsBehind(words: readonly LiteralWord[]): readonly LiteralWord[] | null {
  const name = packageOfNpx(words);
  const [program, ...args] = words;
  if (name !== null) {
    const at = words.findIndex((word) => word?.replace(/(?<=.)@[^/]*$/, '') === name);
    return [name, ...words.slice(at + 1)];
  }
  const verbs =
    typeof program === 'string' && Object.hasOwn(RUN_WORDS, program)
      ? RUN_WORDS[program]
      : undefined;
  if (verbs === undefined) return null;
  const verbAt = args.findIndex((word) => word !== null && verbs.includes(word));
  // yarn, pnpm and bun take the name of an installed program in place of a script's.
  const isBare = verbAt < 0 && ['yarn', 'pnpm'].includes(program ?? '');
  if (verbAt < 0 && !isBare) return null;
  const rest = args.slice(verbAt + 1);
  const at = rest.findIndex(
    (word) => word === null || !word.startsWith('-') || (word === '-m' && program === 'coverage'),
  );
  if (at < 0) return null;
  return program === 'coverage' ? ['python3', ...rest.slice(at)] : rest.slice(at);
}

function toolName(program: string, args: readonly LiteralWord[]): string {
  const module = PYTHON.test(baseName(program)) ? args[args.indexOf('-m') + 1] : null;
  if (args.includes('-m') && typeof module === 'string') return module;
  const npxPackage = packageOfNpx([program, ...args]);
  if (npxPackage !== null) return npxPackage;
  const path =
    program === 'node' ? args.find((word) => word !== null && !word.startsWith('-')) : program;
  const installed = /(^|\/)node_modules\/(\.bin\/)?((@[\w.-]+\/)?[\w.-]+)/.exec(path ?? '')?.[3];
  // `.venv/bin/pytest`, `vendor/bin/phpunit`, `./gradlew`
  return (
    installed ?? (/(^|\/)(bin\/[\w.-]+|gradlew|mvnw)$/.test(program) ? baseName(program) : program)
  );
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** The package of `npx NAME` and `npm exec NAME`, without its version; null for other commands. */
export function packageOfNpx(words: readonly LiteralWord[]): string | null {
  const [program, ...args] = words;
  const isExec =
    ['npm', 'pnpm', 'yarn', 'bun'].includes(program ?? '') &&
    ['exec', 'x', 'dlx'].includes(args[0] ?? '');
  const isNpx = ['npx', 'bunx', 'pnpx'].includes(program ?? '');
  if (!isNpx && !isExec) return null;
  const name = args.slice(isExec ? 1 : 0).find((word) => word !== null && !word.startsWith('-'));
  return name?.replace(/(?<=.)@[^/]*$/, '') ?? null;
}

const CONFIG_OPTIONS: Readonly<Record<string, RegExp>> = {
  tsc: /^(-p|--project|-b|--build)$/,
  make: /^(-f|--file|--makefile)$/,
  gmake: /^(-f|--file|--makefile)$/,
  prettier: /^--config$/,
  nyc: /^(--nycrc-path)$/,
  just: /^(-f|--justfile)$/,
  task: /^(-t|--taskfile)$/,
  dotenv: /^-e$/,
  'env-cmd': /^(-f|--file)$/,
  coverage: /^--rcfile$/,
  golangci: /^(-c|--config)$/,
};
const CONFIG_OPTION = /^(-c|--config|--configfile|--config-file|--rcfile|--tsconfig)$/;
const WITHOUT = new Set(['npm', 'pnpm', 'yarn', 'npx', 'cargo', 'bun', 'node --run']);

/** The file of configuration that the words name, in place of the usual ones; null where they name none. */
export function namedConfigOf({ name }: JudgingTool, words: readonly LiteralWord[]): string | null {
  if (WITHOUT.has(name)) return null;
  const pattern = CONFIG_OPTIONS[name] ?? CONFIG_OPTION;
  for (const [index, word] of words.entries()) {
    const [option = '', joined] = word?.split('=', 2) ?? [];
    if (!pattern.test(option)) continue;
    const value = joined ?? words[index + 1] ?? null;
    // jest takes JSON there, too.
    if (value === null || !/^[\w.][\w./@-]*$/.test(value)) continue;
    return name === 'tsc' && !value.endsWith('.json') ? `${value}/tsconfig.json` : value;
  }
  return null;
}

/** A path that stands for what a solver could put there, and the pattern that protects it. */
interface ConfigPlace {
  readonly path: string;
  readonly protect: string;
}

/** Every place at which a tool would read configuration, given folders that the solver may write to. */
export function configPlacesOf(tool: JudgingTool, folders: readonly string[]): ConfigPlace[] {
  const anywhere = (tool.configsAnywhere ?? []).flatMap((name) =>
    ['', ...folders.map((folder) => `${folder}/`)].map((folder) => ({
      path: `${folder}${exampleOf(name)}`,
      protect: `**/${name}`,
    })),
  );
  const inFolder = [...tool.configs, ...(tool.configsAbove ?? [])];
  return [...inFolder.map((name) => ({ path: exampleOf(name), protect: name })), ...anywhere];
}

function exampleOf(name: string): string {
  return `${name.replaceAll('*', 'any')}${name.endsWith('/') ? 'any' : ''}`;
}

/** Whether a pattern speaks of some tool's configuration, so that matching nothing in the base is no mistake. */
export function isConfigPath({ source, matches }: PathPattern): boolean {
  return (
    FOUND_IN_ANY_FOLDER.has(baseName(source)) ||
    source.endsWith('*/__init__.py') ||
    ALWAYS_LEGITIMATE.some(matches) ||
    JUDGING_TOOLS.some((tool) =>
      configPlacesOf(tool, ['any', 'any/deeper']).some(({ path }) => matches(path)),
    )
  );
}

// Names that a solver may add to change what git, a shell, a language or a tool reads, or where tools don't look.
const FOUND_IN_ANY_FOLDER = new Set(JUDGING_TOOLS.flatMap(({ configsAbove = [] }) => configsAbove));
const ALWAYS_LEGITIMATE = [
  'node_modules/any',
  'npm-shrinkwrap.json',
  'any/__init__.py',
  'any.pth',
  'pyvenv.cfg',
  'venv/any',
  '.venv/any',
  '.git/any',
  '.svn/any',
  '.hg/any',
  '.jj/any',
  '.sl/any',
  '.gitattributes',
  '.gitmodules',
  '.env',
  'sitecustomize.py',
  'usercustomize.py',
  '.babelrc',
  'babel.config.js',
  '.nvmrc',
  '.swcrc',
];

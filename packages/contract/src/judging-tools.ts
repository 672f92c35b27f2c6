import type { LiteralWord } from './shell-words.ts';

/** A tool whose answer depends on configuration that lies in the repository. */
export interface JudgingTool {
  readonly name: string;
  /** Paths at the root. A name that is absent from the base counts: the solver may add it (THREATS H06, H08). */
  readonly configs: readonly string[];
  /** Names that count in any folder. */
  readonly configsAnywhere?: readonly string[];
  /** It runs tests, and succeeds when tests are missing or none is there (THREATS H04). */
  readonly runsTests?: boolean;
  /** It looks at how the text is written, and runs nothing of it. */
  readonly readsStyle?: boolean;
}

const withExtensions = (stem: string, extensions: string) =>
  extensions.split(' ').map((extension) => `${stem}${extension}`);
const SCRIPT_EXTENSIONS = '.js .cjs .mjs .ts .cts .mts';
const PYTHON_CONFIGS = ['pyproject.toml', 'setup.cfg', 'tox.ini'];

const TOOLS: readonly JudgingTool[] = [
  { name: 'npm', configs: ['package.json', '.npmrc'] },
  { name: 'pnpm', configs: ['package.json', '.npmrc', '.pnpmfile.cjs', 'pnpm-workspace.yaml'] },
  { name: 'yarn', configs: ['package.json', '.yarnrc', '.yarnrc.yml'] },
  {
    name: 'eslint',
    configs: ['package.json', '.eslintignore'],
    // The one nearest to a file counts, in the flat form since version 10.
    configsAnywhere: [
      ...withExtensions('eslint.config', SCRIPT_EXTENSIONS),
      ...withExtensions('.eslintrc', ' .js .cjs .json .yml .yaml'),
    ],
    readsStyle: true,
  },
  {
    name: 'prettier',
    // It leaves out what git ignores, too.
    configs: ['.prettierignore', '.gitignore'],
    configsAnywhere: [
      'package.json',
      'package.yaml',
      ...withExtensions('prettier.config', SCRIPT_EXTENSIONS),
      ...withExtensions('.prettierrc', ' .json .json5 .yml .yaml .toml .js .cjs .mjs'),
      '.editorconfig',
    ],
    readsStyle: true,
  },
  { name: 'tsc', configs: ['tsconfig.json'], readsStyle: true },
  { name: 'oxlint', configs: [], configsAnywhere: ['.oxlintrc.json'], readsStyle: true },
  { name: 'biome', configs: [], configsAnywhere: ['biome.json', 'biome.jsonc'], readsStyle: true },
  {
    name: 'jest',
    configs: ['package.json', ...withExtensions('jest.config', `${SCRIPT_EXTENSIONS} .json`)],
    runsTests: true,
  },
  {
    name: 'vitest',
    configs: [
      ...withExtensions('vitest.config', SCRIPT_EXTENSIONS),
      ...withExtensions('vite.config', SCRIPT_EXTENSIONS),
    ],
    runsTests: true,
  },
  {
    name: 'mocha',
    configs: ['package.json', ...withExtensions('.mocharc', '.js .cjs .json .jsonc .yml .yaml')],
    runsTests: true,
  },
  {
    name: 'ava',
    configs: ['package.json', ...withExtensions('ava.config', '.js .cjs .mjs')],
    runsTests: true,
  },
  {
    name: 'pytest',
    configs: ['pytest.ini', '.pytest.ini', ...PYTHON_CONFIGS],
    configsAnywhere: ['conftest.py'],
    runsTests: true,
  },
  { name: 'unittest', configs: [], runsTests: true },
  { name: 'mypy', configs: ['mypy.ini', '.mypy.ini', ...PYTHON_CONFIGS], readsStyle: true },
  {
    name: 'ruff',
    configs: [],
    configsAnywhere: ['ruff.toml', '.ruff.toml', 'pyproject.toml'],
    readsStyle: true,
  },
  { name: 'flake8', configs: ['.flake8', 'setup.cfg', 'tox.ini'], readsStyle: true },
  { name: 'black', configs: ['pyproject.toml'], readsStyle: true },
  { name: 'tox', configs: PYTHON_CONFIGS, runsTests: true },
  { name: 'make', configs: ['GNUmakefile', 'makefile', 'Makefile'] },
  {
    name: 'cargo',
    configs: ['Cargo.toml', 'build.rs'],
    configsAnywhere: ['.cargo/config.toml', '.cargo/config'],
    runsTests: true,
  },
  { name: 'node --test', configs: [], runsTests: true },
  { name: 'go test', configs: ['go.mod'], runsTests: true },
];
const BY_NAME = new Map(TOOLS.map((tool) => [tool.name, tool]));

/** The tool that the words run, behind `npx`, `npm exec`, `python -m` or a path into `node_modules`, or null. */
export function judgingToolOf(words: readonly LiteralWord[]): JudgingTool | null {
  const [program, ...args] = words;
  if (typeof program !== 'string') return null;
  if (program === 'node' && args.includes('--test')) return BY_NAME.get('node --test') ?? null;
  if (program === 'go') return args[0] === 'test' ? (BY_NAME.get('go test') ?? null) : null;
  return BY_NAME.get(toolName(program, args)) ?? null;
}

function toolName(program: string, args: readonly LiteralWord[]): string {
  const module = /^python[\d.]*$/.test(program) ? args[args.indexOf('-m') + 1] : null;
  if (args.includes('-m') && typeof module === 'string') return module;
  const npxPackage = packageOfNpx([program, ...args]);
  if (npxPackage !== null) return npxPackage;
  const path =
    program === 'node' ? args.find((word) => word !== null && !word.startsWith('-')) : program;
  return /(^|\/)node_modules\/(\.bin\/)?([\w-]+)/.exec(path ?? '')?.[3] ?? program;
}

/** The package of `npx NAME` and `npm exec NAME`, without its version; null for other commands. */
export function packageOfNpx(words: readonly LiteralWord[]): string | null {
  const [program, ...args] = words;
  const isExec =
    ['npm', 'pnpm', 'yarn'].includes(program ?? '') && ['exec', 'x'].includes(args[0] ?? '');
  if (program !== 'npx' && !isExec) return null;
  const name = args.slice(isExec ? 1 : 0).find((word) => word !== null && !word.startsWith('-'));
  return name?.replace(/(?<=.)@[^/]*$/, '') ?? null;
}

const CONFIG_OPTIONS: Readonly<Record<string, RegExp>> = {
  tsc: /^(-p|--project)$/,
  make: /^(-f|--file|--makefile)$/,
  prettier: /^--config$/,
};
const CONFIG_OPTION = /^(-c|--config|--configfile|--config-file|--rcfile)$/;

/** The file of configuration that the words name, in place of the usual ones; null where they name none. */
export function namedConfigOf({ name }: JudgingTool, words: readonly LiteralWord[]): string | null {
  if (['npm', 'pnpm', 'yarn', 'cargo'].includes(name)) return null;
  const pattern = CONFIG_OPTIONS[name] ?? CONFIG_OPTION;
  for (const [index, word] of words.entries()) {
    const [option = '', joined] = word?.split('=', 2) ?? [];
    if (!pattern.test(option)) continue;
    const value = joined ?? words[index + 1] ?? null;
    // jest takes JSON there, too.
    if (value !== null && /^[\w.][\w./@-]*$/.test(value)) return value;
  }
  return null;
}

/** Every path at which a tool would read configuration, given folders that the solver may write to. */
export function configPathsOf(tool: JudgingTool, folders: readonly string[]): string[] {
  const anywhere = (tool.configsAnywhere ?? []).flatMap((name) => [
    name,
    ...folders.map((folder) => `${folder}/${name}`),
  ]);
  return [...tool.configs, ...anywhere];
}

/** Whether a pattern speaks of some tool's configuration, so that matching nothing in the base is no mistake. */
export function isConfigPath(matches: (path: string) => boolean): boolean {
  return (
    ALWAYS_LEGITIMATE.some(matches) ||
    TOOLS.some((tool) => configPathsOf(tool, ['any', 'any/deeper']).some(matches))
  );
}

// Names that a solver may add to change what git, a shell, a language or a tool reads, or where tools don't look.
const ALWAYS_LEGITIMATE = [
  'node_modules/any',
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

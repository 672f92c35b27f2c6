const split = (names: string) => names.split(' ');
const SCRIPTS = split('.js .cjs .mjs .ts .cts .mts');
const ALL = ['', ...SCRIPTS, ...split('.json .jsonc .json5 .yaml .yml .toml')];

/** Files of one folder that a tool reads in place of each other: an earlier one in place of those after it. */
const RANKS: readonly (readonly string[])[] = [
  split('npm-shrinkwrap.json package-lock.json'),
  split('GNUmakefile makefile Makefile'),
  split('BSDmakefile makefile Makefile'),
  split('justfile Justfile .justfile'),
  split(
    'Taskfile.yml taskfile.yml Taskfile.yaml taskfile.yaml Taskfile.dist.yml taskfile.dist.yml Taskfile.dist.yaml taskfile.dist.yaml',
  ),
  split('rakefile Rakefile rakefile.rb Rakefile.rb'),
  split('gems.rb Gemfile'),
  split('gems.locked Gemfile.lock'),
  split('go.work go.mod'),
  split('BUILD.bazel BUILD'),
  split('WORKSPACE.bazel WORKSPACE'),
  split('phpunit.xml phpunit.dist.xml phpunit.xml.dist'),
  split('phpstan.neon phpstan.neon.dist phpstan.dist.neon'),
  split('.phpcs.xml phpcs.xml .phpcs.xml.dist phpcs.xml.dist'),
  ...['pyproject.toml', 'tox.ini', 'setup.cfg'].map((last) => [
    ...split('pytest.toml .pytest.toml pytest.ini .pytest.ini'),
    last,
  ]),
  split('.ruff.toml ruff.toml'),
  split('mypy.ini .mypy.ini'),
];

/** Stems of which a tool takes any one file; and what it reads beside them, whichever it takes. */
const STEMS: Readonly<Record<string, readonly string[]>> = {
  'eslint.config': [],
  '.eslintrc': [],
  'prettier.config': ['.prettierrc'],
  '.prettierrc': ['prettier.config'],
  'jest.config': [],
  'babel.config': [],
  '.babelrc': [],
  // Vite loads a configuration of PostCSS into its own process, also for tests that have no styles.
  'vitest.config': ['vitest.workspace', 'postcss.config', '.postcssrc'],
  'vite.config': ['vitest.config', 'vitest.workspace', 'postcss.config', '.postcssrc'],
  '.mocharc': [],
  'ava.config': [],
  'playwright.config': [],
  'cypress.config': [],
  'stylelint.config': ['.stylelintrc'],
  '.stylelintrc': ['stylelint.config'],
};

const instead = new Map<string, Set<string>>();
for (const names of RANKS) {
  for (const [rank, name] of names.entries()) add(name, names.slice(rank + 1));
}
for (const [stem, others] of Object.entries(STEMS)) {
  const files = ALL.map((extension) => `${stem}${extension}`);
  for (const each of [stem, ...others]) {
    for (const extension of ALL) add(`${each}${extension}`, files);
  }
}

function add(name: string, lower: readonly string[]): void {
  const known = instead.get(name) ?? new Set();
  for (const each of lower) if (each !== name) known.add(each);
  instead.set(name, known);
}

/**
 * The paths in place of which a tool would read a new file: of `pkg/GNUmakefile` these are `pkg/makefile` and
 * `pkg/Makefile`. Who protects one of them does not want the other either (THREATS H08).
 */
export function readInsteadOf(path: string): string[] {
  const at = path.lastIndexOf('/') + 1;
  return [...(instead.get(path.slice(at)) ?? [])].map((name) => `${path.slice(0, at)}${name}`);
}

/** The same of Python's modules: a package comes before a module, and of that what is compiled before its source. */
export function modulesInsteadOf(path: string): string[] {
  const cached = /^(.*\/)?__pycache__\/([^/.]+)\.[^/]*\.pyc$/s.exec(path);
  if (cached !== null) return [`${cached[1] ?? ''}${cached[2]}.py`];
  const found =
    /^(.+)\/__init__\.(?:py|pyc|(?:[^/]*\.)?so)$/s.exec(path) ??
    /^((?:.*\/)?[^/.]+)\.(?:[^/]*\.)?so$/s.exec(path);
  return found === null ? [] : [`${found[1]}.py`];
}

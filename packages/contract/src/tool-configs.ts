import type { JudgingTool } from './judging-tools.ts';

const split = (names: string) => names.split(/\s+/);
const withExtensions = (stem: string, extensions: string) =>
  split(extensions).map((extension) => `${stem}${extension}`);

const SCRIPTS = '.js .cjs .mjs .ts .cts .mts';
const DATA = '.json .yaml .yml';
const PYTHON = ['pyproject.toml', 'setup.cfg', 'tox.ini'];
const MANIFEST = ['package.json'];
// Vite, and with it vitest, loads these into its own process, whatever its own configuration says.
const POSTCSS = [
  ...withExtensions('postcss.config', `${SCRIPTS} .json`),
  ...withExtensions('.postcssrc', `${SCRIPTS} ${DATA}`),
  '.postcssrc',
];
// Rust's `ignore`, which many linters walk by: what these name is not looked at.
const IGNORES = ['.gitignore', '.ignore'];

type Places = Partial<Pick<JudgingTool, 'configsAnywhere' | 'configsAbove'>>;
type Traits = Omit<JudgingTool, 'name' | 'configs'>;

const tool = (name: string, configs: readonly string[], traits: Traits = {}): JudgingTool => ({
  name,
  configs,
  ...traits,
});
const linter = (name: string, configs: readonly string[], places: Places = {}) =>
  tool(name, configs, { ...places, readsStyle: true });
const runner = (name: string, configs: readonly string[], places: Places = {}) =>
  tool(name, configs, { ...places, runsTests: true });

/** Tools that a package.json or the words behind npm, npx and their like may run. */
const NODE_TOOLS: readonly JudgingTool[] = [
  linter('eslint', ['package.json', '.eslintignore'], {
    // The one nearest to a file counts, in the flat form since version 10.
    configsAnywhere: [
      ...withExtensions('eslint.config', SCRIPTS),
      '.eslintrc',
      ...withExtensions('.eslintrc', '.js .cjs .json .yml .yaml'),
    ],
  }),
  // It leaves out what git ignores, too.
  linter('prettier', ['.prettierignore', '.gitignore'], {
    configsAnywhere: [
      'package.json',
      'package.yaml',
      ...withExtensions('prettier.config', SCRIPTS),
      '.prettierrc',
      ...withExtensions('.prettierrc', `.json5 .toml ${DATA} ${SCRIPTS}`),
      '.editorconfig',
    ],
  }),
  linter('tsc', ['tsconfig.json']),
  linter('vue-tsc', ['tsconfig.json']),
  linter('tsd', ['package.json', 'tsconfig.json']),
  linter('oxlint', ['.eslintignore', '.gitignore', ...withExtensions('oxlint.config', SCRIPTS)], {
    configsAnywhere: ['.oxlintrc.json', '.oxlintrc.jsonc'],
  }),
  linter('biome', ['.gitignore', '.ignore'], {
    configsAnywhere: ['biome.json', 'biome.jsonc', '.biome.json', '.biome.jsonc', '.editorconfig'],
  }),
  linter('stylelint', ['.stylelintignore'], {
    configsAnywhere: [
      'package.json',
      ...withExtensions('stylelint.config', SCRIPTS),
      '.stylelintrc',
      ...withExtensions('.stylelintrc', `${DATA} ${SCRIPTS}`),
    ],
  }),
  linter('markdownlint', ['.markdownlintignore', '.markdownlintrc'], {
    configsAnywhere: withExtensions('.markdownlint', `.jsonc ${DATA} .cjs .mjs`),
  }),
  linter('markdownlint-cli2', ['package.json'], {
    configsAnywhere: [
      ...withExtensions('.markdownlint', `.jsonc ${DATA} .cjs .mjs`),
      ...withExtensions('.markdownlint-cli2', '.jsonc .yaml .cjs .mjs'),
    ],
  }),
  linter('xo', MANIFEST, {
    configsAnywhere: [...withExtensions('xo.config', SCRIPTS), '.xo-config', '.xo-config.json'],
  }),
  linter('standard', ['package.json', '.gitignore']),
  linter('knip', ['package.json', ...withExtensions('knip', `.json .jsonc ${SCRIPTS}`)]),
  runner('jest', [
    'package.json',
    ...withExtensions('jest.config', `${SCRIPTS} .json`),
    // Its transform and its mocks of packages: what stands in for them is found by name.
    ...withExtensions('babel.config', `${SCRIPTS} .json`),
    ...withExtensions('.babelrc', '.js .cjs .mjs .cts .json'),
    '.babelrc',
    '__mocks__/',
  ]),
  runner('vitest', [
    ...withExtensions('vitest.config', SCRIPTS),
    ...withExtensions('vite.config', SCRIPTS),
    ...withExtensions('vitest.workspace', `${SCRIPTS} .json`),
    ...POSTCSS,
  ]),
  runner('mocha', [
    'package.json',
    ...withExtensions('.mocharc', '.js .cjs .mjs .json .jsonc .yml .yaml'),
    'test/mocha.opts',
  ]),
  runner('ava', ['package.json', ...withExtensions('ava.config', '.js .cjs .mjs')]),
  runner('tap', ['package.json', '.taprc']),
  runner('jasmine', ['package.json', ...withExtensions('spec/support/jasmine', '.json .js .mjs')]),
  runner('playwright', withExtensions('playwright.config', SCRIPTS)),
  runner('cypress', ['cypress.json', ...withExtensions('cypress.config', SCRIPTS)]),
  runner('karma', ['karma.conf.js', 'karma.conf.ts', 'karma.conf.cjs', '.config/karma.conf.js']),
  runner('cucumber-js', withExtensions('cucumber', '.js .cjs .mjs .json .yaml .yml')),
  tool('tsx', ['tsconfig.json']),
  tool('ts-node', ['package.json'], { configsAnywhere: ['tsconfig.json'] }),
  tool('babel-node', [...withExtensions('babel.config', `${SCRIPTS} .json`)], {
    configsAnywhere: ['.babelrc', ...withExtensions('.babelrc', '.js .cjs .mjs .cts .json')],
  }),
  tool('c8', ['.nycrc', ...withExtensions('.c8rc', '.json'), '.c8rc', '.nycrc.json']),
  tool('nyc', [
    'package.json',
    '.nycrc',
    ...withExtensions('.nycrc', DATA),
    ...withExtensions('nyc.config', '.js .cjs .mjs'),
  ]),
  tool('dotenv', ['.env']),
  tool('env-cmd', ['.env', '.env-cmdrc', ...withExtensions('.env-cmdrc', '.js .cjs .json')]),
  tool('turbo', ['package.json', 'turbo.json', 'turbo.jsonc']),
  tool('nx', ['package.json', 'nx.json'], { configsAnywhere: ['project.json'] }),
  tool('lerna', ['package.json', 'lerna.json']),
  tool('gulp', withExtensions('gulpfile', SCRIPTS)),
  tool('grunt', ['Gruntfile.js', 'Gruntfile.coffee', 'Gruntfile.cjs']),
];

/** What runs scripts of a manifest, with the folders of installed programs before all others. */
const PACKAGE_RUNNERS: readonly JudgingTool[] = [
  tool('npm', ['package.json', '.npmrc'], { runsInstalled: true }),
  tool(
    'pnpm',
    ['package.json', '.npmrc', '.pnpmfile.cjs', '.pnpmfile.mjs', 'pnpm-workspace.yaml'],
    {
      runsInstalled: true,
    },
  ),
  tool(
    'yarn',
    ['package.json', '.yarnrc', '.yarnrc.yml', '.pnp.cjs', '.pnp.loader.mjs', '.yarn/'],
    {
      runsInstalled: true,
    },
  ),
  // It runs the file `.env` of its folder, and `preload` of its configuration, unasked.
  tool(
    'bun',
    [
      'package.json',
      'bunfig.toml',
      'tsconfig.json',
      '.npmrc',
      ...withExtensions('.env', '.local .test .production .development'),
      '.env',
    ],
    { runsInstalled: true },
  ),
  runner('bun test', [
    'package.json',
    'bunfig.toml',
    'tsconfig.json',
    '.env',
    '.env.test',
    '.env.local',
  ]),
  tool('deno', ['deno.json', 'deno.jsonc', 'package.json', '.npmrc']),
  runner('deno test', ['deno.json', 'deno.jsonc', 'package.json', '.npmrc']),
  tool('node --run', ['package.json'], { runsInstalled: true }),
  runner('node --test', []),
];

const PYTHON_TOOLS: readonly JudgingTool[] = [
  // Of the folder that its arguments have in common and those above it, the first with a configuration counts.
  runner('pytest', [], {
    configsAbove: ['pytest.toml', '.pytest.toml', 'pytest.ini', '.pytest.ini', ...PYTHON],
    configsAnywhere: ['conftest.py'],
  }),
  runner('unittest', []),
  runner('nose2', ['unittest.cfg', 'nose2.cfg', 'pyproject.toml']),
  runner('behave', ['behave.ini', '.behaverc', ...PYTHON]),
  runner('tox', [...PYTHON, 'tox.toml', 'toxfile.py']),
  runner('nox', ['noxfile.py', 'pyproject.toml']),
  tool('coverage', ['.coveragerc', '.coveragerc.toml', ...PYTHON]),
  linter('mypy', ['mypy.ini', '.mypy.ini', ...PYTHON]),
  linter('pyright', ['pyrightconfig.json', 'pyproject.toml']),
  linter('ruff', IGNORES, { configsAnywhere: ['ruff.toml', '.ruff.toml', 'pyproject.toml'] }),
  linter('flake8', ['.flake8', 'setup.cfg', 'tox.ini']),
  linter('pylint', [
    ...split('pylintrc .pylintrc pylintrc.toml .pylintrc.toml setup.cfg tox.ini pyproject.toml'),
  ]),
  linter('pycodestyle', ['setup.cfg', 'tox.ini']),
  linter('pydocstyle', ['.pydocstyle', '.pydocstyle.ini', '.pydocstylerc', ...PYTHON]),
  linter('black', ['pyproject.toml', '.gitignore']),
  linter('isort', ['.isort.cfg', '.editorconfig', ...PYTHON]),
  linter('bandit', ['.bandit', 'bandit.yaml', 'pyproject.toml']),
  linter('yamllint', ['.yamllint', '.yamllint.yaml', '.yamllint.yml']),
  tool('poetry', ['pyproject.toml', 'poetry.toml']),
  tool('uv', ['uv.toml', 'pyproject.toml', '.python-version']),
  tool('hatch', ['hatch.toml', 'pyproject.toml']),
  tool('pdm', ['pdm.toml', '.pdm.toml', 'pyproject.toml']),
];

/** A build whose files lie in every folder: the first name of a list that is there counts. */
const BUILD_TOOLS: readonly JudgingTool[] = [
  tool('make', ['GNUmakefile', 'makefile', 'Makefile']),
  tool('gmake', ['GNUmakefile', 'makefile', 'Makefile']),
  tool('bmake', ['BSDmakefile', 'makefile', 'Makefile']),
  tool('cmake', ['CMakePresets.json', 'CMakeUserPresets.json'], {
    configsAnywhere: ['CMakeLists.txt'],
  }),
  runner(
    'ctest',
    ['CTestConfig.cmake', 'DartConfiguration.tcl', 'CMakePresets.json', 'CMakeUserPresets.json'],
    {
      configsAnywhere: ['CMakeLists.txt', 'CTestTestfile.cmake', 'CTestCustom.cmake'],
    },
  ),
  tool('meson', [], { configsAnywhere: ['meson.build', 'meson.options', 'meson_options.txt'] }),
  tool('ninja', ['build.ninja']),
  tool('just', ['justfile', 'Justfile', '.justfile', '.env']),
  tool(
    'task',
    split(
      'Taskfile.yml taskfile.yml Taskfile.yaml taskfile.yaml Taskfile.dist.yml taskfile.dist.yml Taskfile.dist.yaml taskfile.dist.yaml .taskrc.yml .env',
    ),
  ),
  tool('rake', ['rakefile', 'Rakefile', 'rakefile.rb', 'Rakefile.rb']),
  tool('bundle', ['gems.rb', 'Gemfile', 'gems.locked', 'Gemfile.lock', '.bundle/']),
  runner('rspec', ['.rspec', '.rspec-local']),
  linter('rubocop', ['.rubocop'], { configsAnywhere: ['.rubocop.yml'] }),
  runner('phpunit', ['phpunit.xml', 'phpunit.dist.xml', 'phpunit.xml.dist', 'composer.json']),
  linter('phpstan', ['phpstan.neon', 'phpstan.neon.dist', 'phpstan.dist.neon']),
  linter('phpcs', ['.phpcs.xml', 'phpcs.xml', '.phpcs.xml.dist', 'phpcs.xml.dist']),
  tool('composer', ['composer.json', 'composer.lock']),
  runner('mvn', ['.mvn/'], { configsAnywhere: ['pom.xml'] }),
  runner('gradle', ['gradle.properties', 'gradle/', 'buildSrc/'], {
    configsAnywhere: ['build.gradle', 'build.gradle.kts', 'settings.gradle', 'settings.gradle.kts'],
  }),
  runner('sbt', ['build.sbt', '.sbtopts', '.jvmopts', 'project/']),
  tool('ant', ['build.xml']),
  runner('dotnet', ['global.json'], {
    configsAnywhere: split(
      'Directory.Build.props Directory.Build.targets Directory.Build.rsp Directory.Packages.props nuget.config NuGet.Config .runsettings .editorconfig .globalconfig',
    ),
  }),
  runner('cargo', ['Cargo.toml', 'build.rs', 'rust-toolchain', 'rust-toolchain.toml'], {
    configsAnywhere: split(
      '.cargo/config.toml .cargo/config clippy.toml .clippy.toml rustfmt.toml .rustfmt.toml',
    ),
  }),
  runner('go test', ['go.mod', 'go.work', 'vendor/']),
  linter('go vet', ['go.mod', 'go.work', 'vendor/']),
  linter('staticcheck', ['go.mod', 'go.work'], { configsAnywhere: ['staticcheck.conf'] }),
  linter('golangci-lint', withExtensions('.golangci', '.yml .yaml .toml .json')),
  linter('shellcheck', [], { configsAnywhere: ['.shellcheckrc', 'shellcheckrc'] }),
  linter('hadolint', ['.hadolint.yaml', '.hadolint.yml']),
  linter('clang-tidy', [], { configsAnywhere: ['.clang-tidy'] }),
  linter('clang-format', ['.clang-format-ignore'], {
    configsAnywhere: ['.clang-format', '_clang-format'],
  }),
  runner('mix', ['mix.exs', '.formatter.exs', 'config/', '.credo.exs']),
  runner('swift', ['Package.swift', '.swiftpm/']),
  runner(
    'bazel',
    split('.bazelrc .bazelversion MODULE.bazel WORKSPACE.bazel WORKSPACE tools/bazel'),
    {
      configsAnywhere: ['BUILD.bazel', 'BUILD', '.bazelignore'],
    },
  ),
  tool('pre-commit', ['.pre-commit-config.yaml', '.pre-commit-config.yml']),
  // A repository's own settings of git hold commands; a tree has no .git, but may be a bare repository itself.
  tool('direnv', ['.envrc', '.env']),
];

/** Every judging tool that is known, with all names that it looks for, also those that no repository has yet. */
export const JUDGING_TOOLS: readonly JudgingTool[] = [
  ...PACKAGE_RUNNERS,
  ...NODE_TOOLS,
  ...PYTHON_TOOLS,
  ...BUILD_TOOLS,
];

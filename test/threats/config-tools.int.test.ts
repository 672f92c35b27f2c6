import { approveContract, type ContractInput } from '@kervyxa/contract';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { type AttackBench, openAttackBench } from './attack-bench.ts';

let bench: AttackBench;
beforeAll(async () => {
  bench = await openAttackBench();
});
afterEach(() => bench.assertNothingLeft());
afterAll(() => bench.close());

/** A command that judges, what of its configuration the base has, and what a solver may add that outranks it. */
type Row = readonly [command: string, base: string, attack: string];

// Written from each tool's manual, not from our table of tools.
const TOOLS: readonly Row[] = [
  ['npm test', 'package.json', '.npmrc node_modules/.bin/node'],
  [
    'npx --no-install eslint .',
    'eslint.config.js',
    'src/eslint.config.mjs eslint.config.cjs .eslintrc.js src/.eslintrc .eslintignore .npmrc',
  ],
  [
    'npx --no-install prettier --check .',
    '.prettierrc',
    'src/.prettierrc.mts src/.editorconfig .prettierignore .gitignore prettier.config.ts src/package.json',
  ],
  [
    'npx --no-install tsc --noEmit -p packages/a',
    'packages/a/tsconfig.json',
    'packages/a/tsconfig.json',
  ],
  ['npx --no-install oxlint', '.oxlintrc.json', 'src/.oxlintrc.json .eslintignore'],
  ['npx --no-install biome check .', 'biome.json', 'src/biome.jsonc .biome.json .editorconfig'],
  [
    'npx --no-install stylelint "**/*.css"',
    '.stylelintrc.json',
    'src/.stylelintrc.js stylelint.config.mjs .stylelintignore',
  ],
  [
    'npx --no-install jest',
    'jest.config.js',
    'jest.config.ts babel.config.json .babelrc __mocks__/lodash.js package.json',
  ],
  [
    'npx --no-install vitest run',
    'vite.config.ts',
    'vitest.config.js vitest.workspace.ts postcss.config.mjs .postcssrc.json',
  ],
  ['npx --no-install mocha', '.mocharc.yml', '.mocharc.cjs .mocharc.jsonc package.json'],
  ['nyc --reporter=text mocha', '.nycrc', '.nycrc.json nyc.config.js .mocharc.js'],
  ['npx --no-install ava', 'package.json', 'ava.config.mjs'],
  ['npx --no-install playwright test', 'playwright.config.ts', 'playwright.config.js'],
  ['npx --no-install tsx judge.ts', 'tsconfig.json', 'tsconfig.json'],
  ['pnpm test', 'package.json', '.pnpmfile.cjs pnpm-workspace.yaml .npmrc'],
  [
    'yarn jest',
    'package.json',
    '.yarnrc.yml .yarnrc .yarn/releases/yarn.cjs .pnp.cjs jest.config.js',
  ],
  ['bun test', 'package.json', 'bunfig.toml .env'],
  ['deno test', 'deno.json', 'deno.jsonc'],
  [
    'python3 -m pytest -q tests',
    'pyproject.toml',
    'pytest.ini .pytest.ini pytest.toml tests/pytest.ini tests/tox.ini conftest.py src/conftest.py',
  ],
  ['python3 -m mypy src', 'setup.cfg', 'mypy.ini .mypy.ini pyproject.toml mypy.py ast/__init__.py'],
  ['ruff check src', 'pyproject.toml', 'ruff.toml src/.ruff.toml src/pyproject.toml .gitignore'],
  ['flake8', 'tox.ini', '.flake8 setup.cfg'],
  ['pylint src', '.pylintrc', 'pylintrc pylintrc.toml setup.cfg'],
  ['pyright', 'pyproject.toml', 'pyrightconfig.json'],
  ['tox -e py', 'tox.ini', 'toxfile.py tox.toml'],
  ['coverage run -m pytest', '.coveragerc', 'pytest.ini setup.cfg conftest.py'],
  ['uv run pytest', 'pyproject.toml', 'uv.toml pytest.ini'],
  ['make check', 'Makefile', 'GNUmakefile makefile'],
  ['make -C sub check', 'sub/Makefile', 'sub/GNUmakefile'],
  ['cargo test', 'Cargo.toml', 'build.rs .cargo/config.toml sub/.cargo/config rust-toolchain.toml'],
  ['go test ./...', 'go.mod', 'go.work vendor/modules.txt'],
  ['golangci-lint run', '.golangci.yml', '.golangci.toml'],
  ['bundle exec rspec', 'Gemfile', 'gems.rb .bundle/config .rspec .rspec-local'],
  ['vendor/bin/phpunit', 'phpunit.xml.dist', 'phpunit.xml'],
  [
    './gradlew test',
    'build.gradle',
    'sub/build.gradle.kts settings.gradle gradle.properties buildSrc/x.java',
  ],
  ['./mvnw -q test', 'pom.xml', '.mvn/jvm.config sub/pom.xml'],
  [
    'dotnet test',
    'a.csproj',
    'Directory.Build.props sub/Directory.Build.targets nuget.config global.json',
  ],
  ['ctest', 'CMakeLists.txt', 'CTestConfig.cmake sub/CTestTestfile.cmake CMakeUserPresets.json'],
  ['just check', 'justfile', '.justfile Justfile .env'],
  ['task check', 'Taskfile.yml', 'taskfile.yml Taskfile.yaml Taskfile.dist.yml'],
  ['shellcheck run.sh', '.shellcheckrc', 'sub/.shellcheckrc'],
  ['bazel test //...', 'BUILD', 'sub/BUILD.bazel .bazelrc MODULE.bazel'],
];

// Keeps R-POLICY-DIFF.
it.each(TOOLS)(
  'H08 BUG-3 %s, configured by %s: approval asks for what outranks it (%s), and then FAIL PROTECTED_PATH_CHANGED',
  async (command, configured, attack) => {
    const name = `tool-${TOOLS.findIndex(([each]) => each === command)}`;
    const inBase = [
      configured,
      'gradlew',
      'mvnw',
      'judge.ts',
      'tests/a.py',
      'vendor/bin/phpunit',
      'run.sh',
    ];
    const attacked = attack.split(' ');
    const { base, cheat } = await bench.build(name, [
      { name: 'base', files: Object.fromEntries(inBase.map((path) => [path, `${path}\n`])) },
      {
        name: 'cheat',
        parents: ['base'],
        files: Object.fromEntries(attacked.map((path) => [path, 'changed\n'])),
      },
    ]);
    const facts = {
      commit: base,
      paths: inBase,
      files: new Map<string, string>(),
      lfsPointers: [],
    };
    const change = (protectedPaths: string[]) => (contract: ContractInput) => {
      contract.constraints = { protectedPaths, maxChangedFiles: 100, allowedLanguages: [] };
      Object.assign(contract.criteria[0] ?? {}, { command });
    };
    const openNames = (protectedPaths: string[]): string[] => {
      const document = bench.plainContract(base);
      change(protectedPaths)(document);
      return approveContract(document, facts)
        .findings.filter(({ code }) => /^(CONFIG|HARNESS)_NOT_PROTECTED$/.test(code))
        .flatMap(({ fix }) => [...fix.matchAll(/"([^"]+)"/g)].map(([, path]) => path ?? ''));
    };
    const protectedPaths = [configured, ...openNames([configured])];
    expect(openNames(protectedPaths)).toEqual([]);
    const { verdict, reasons } = await bench.attack(name, base, {
      commit: cheat,
      contract: change(protectedPaths),
    });
    expect(verdict).toBe('FAIL');
    // Every file by itself, so that none of them would do alone.
    const refused = reasons
      .filter(({ code }) => code === 'PROTECTED_PATH_CHANGED')
      .map(({ subject }) => subject);
    expect(refused.toSorted()).toEqual(attacked.toSorted());
  },
);

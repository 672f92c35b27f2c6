import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { BaseFacts } from './facts.ts';
import { FINDING_CODES, FINDING_TABLE, TREE_RULES, type FindingCode } from './finding-table.ts';
import { approveContract, interestingBaseFiles, lintContract } from './lint.ts';
import {
  benchmark,
  editedContract,
  exitCode,
  fileAssertion,
  goodContract,
  goodFacts,
  goodJudgeProbe,
  REMOVE,
  type Edit,
} from './testing/good-contract.ts';

interface Row {
  readonly code: FindingCode;
  readonly pointer: string;
  readonly edits: readonly Edit[];
  /** Close to it, and not at fault. */
  readonly twin: readonly Edit[];
  readonly facts?: BaseFacts | null;
  readonly twinFacts?: BaseFacts;
}

const digest = '5'.repeat(64);
const objective = (text: string): Edit => ['/objective', text];
const kind = (text: string): Edit => ['/kind', text];
const protect = (...paths: string[]): Edit => [
  '/constraints/protectedPaths',
  ['package.json', '**/.npmrc', 'test/', 'check.js', ...paths],
];
const command = (text: string): Edit => ['/criteria/1/command', text];
const extra = (value: unknown): Edit => ['/criteria/3', value];
const acknowledged = (code: string, reason = 'known'): Edit => [
  '/acknowledgements',
  [{ code, reason }],
];
const regression = (text: string, visibility = 'hidden') => ({
  ...exitCode(text),
  type: 'regression',
  visibility,
});
const dataInputs: Edit[] = [
  kind('data_transform'),
  ['/inputs', [{ path: 'records.jsonl', description: 'the records' }]],
  protect('records.jsonl'),
];
const transform = 'node transform.js records.jsonl rows.csv';
const compared = `${transform} && printf '%s  %s\\n' ${digest} rows.csv | sha256sum -c --status`;
const dataFacts = goodFacts({ paths: [...goodFacts().paths, 'records.jsonl', 'transform.js'] });

const ROWS: Row[] = [
  { code: 'SCHEMA_INVALID', pointer: '/colour', edits: [['/colour', 'red']], twin: [] },
  {
    code: 'SCHEMA_INVALID',
    pointer: '/criteria/0/shell',
    edits: [['/criteria/0/shell', 'bash']],
    twin: [],
  },
  {
    code: 'SCHEMA_INVALID',
    pointer: '/criteria/0/type',
    edits: [['/criteria/0/type', 'vibes']],
    twin: [],
  },
  {
    code: 'SCHEMA_INVALID',
    pointer: '/title',
    edits: [['/title', REMOVE]],
    twin: [['/title', 'A 1']],
  },
  {
    code: 'SCHEMA_INVALID',
    pointer: '/objective',
    edits: [objective('lone \ud800 "x"')],
    twin: [objective('pair \ud83d\ude00 "x"')],
  },
  {
    code: 'SCHEMA_INVALID',
    pointer: '/settlement/reward/amountMinor',
    edits: [['/settlement/reward/amountMinor', 50_000]],
    twin: [['/settlement/reward/amountMinor', '1']],
  },
  {
    code: 'SCHEMA_INVALID',
    pointer: '/settlement/challengeBondMinor',
    edits: [['/settlement/challengeBondMinor', '9223372036854775808']],
    twin: [['/settlement/challengeBondMinor', '9223372036854775807']],
  },
  {
    code: 'SCHEMA_INVALID',
    pointer: '/submission/invited',
    edits: [['/submission/policy', 'INVITE_ONLY']],
    twin: [
      ['/submission/policy', 'INVITE_ONLY'],
      ['/submission/invited', ['ann']],
    ],
  },
  {
    code: 'SCHEMA_INVALID',
    pointer: '/criteria/3/metric/tolerance',
    edits: [extra({ ...benchmark(), source: 'peak_memory_bytes' })],
    twin: [
      extra({
        ...benchmark(),
        source: 'peak_memory_bytes',
        metric: { name: 'peak', unit: 'bytes', op: 'lt', threshold: 1, tolerance: 1 },
      }),
    ],
  },
  {
    code: 'SCHEMA_INVALID',
    pointer: '/criteria/3/path',
    edits: [extra({ ...benchmark(), source: 'artifact_bytes' })],
    twin: [extra({ ...benchmark(), source: 'artifact_bytes', path: 'dist/x.js' })],
  },
  {
    code: 'SCHEMA_INVALID',
    pointer: '/criteria/3/path',
    edits: [extra(fileAssertion('../x', { op: 'contains', value: 'x' }))],
    twin: [extra(fileAssertion('x', { op: 'contains', value: 'x' }))],
  },
  {
    code: 'SCHEMA_INVALID',
    pointer: '/proof/0/failing',
    edits: [['/proof', [{ commit: 'b'.repeat(40), expected: 'FAIL', failing: 'nobody' }]]],
    twin: [['/proof', [{ commit: 'b'.repeat(40), expected: 'FAIL', failing: 'rejects' }]]],
  },
  {
    code: 'BASE_COMMIT_NOT_PINNED',
    pointer: '/repository/baseCommit',
    edits: [['/repository/baseCommit', 'main']],
    twin: [['/repository/baseCommit', 'b'.repeat(40)]],
  },
  {
    code: 'BASE_COMMIT_NOT_PINNED',
    pointer: '/repository/baseCommit',
    edits: [['/repository/baseCommit', 'abc1234']],
    twin: [],
  },
  {
    code: 'BASE_COMMIT_NOT_PINNED',
    pointer: '/repository/baseCommit',
    edits: [['/repository/baseCommit', 'A'.repeat(40)]],
    twin: [],
  },
  {
    code: 'BASE_COMMIT_NOT_PINNED',
    pointer: '/repository/baseCommit',
    edits: [['/repository/baseCommit', `${'a'.repeat(40)}\n`]],
    twin: [],
  },
  {
    code: 'IMAGE_NOT_PINNED',
    pointer: '/environment/image',
    edits: [['/environment/image', 'node:22']],
    twin: [['/environment/image', `docker.io/library/node@sha256:${digest}`]],
  },
  {
    code: 'IMAGE_NOT_PINNED',
    pointer: '/environment/image',
    edits: [['/environment/image', 'kervyxa-runtime/node:99']],
    twin: [['/environment/image', 'kervyxa-runtime/python:1']],
  },
  {
    code: 'IMAGE_NOT_PINNED',
    pointer: '/environment/image',
    edits: [['/environment/image', 'node:latest']],
    twin: [],
    facts: null,
  },
  {
    code: 'REPOSITORY_URL_REFUSED',
    pointer: '/repository/url',
    edits: [['/repository/url', 'https://github.com\\@169.254.169.254/r.git']],
    twin: [['/repository/url', 'https://github.com/a/b']],
  },
  {
    code: 'REPOSITORY_URL_REFUSED',
    pointer: '/repository/url',
    edits: [['/repository/url', 'http://127.0.0.1:8080/r.git']],
    twin: [['/repository/url', 'http://127.0.0.1:8080/r.git']],
    twinFacts: goodFacts({ allowedOrigins: ['http://127.0.0.1:8080'] }),
  },
  {
    code: 'REPOSITORY_URL_REFUSED',
    pointer: '/proof/0/repository',
    edits: [['/proof', [{ commit: 'b'.repeat(40), repository: 'file:///r', expected: 'PASS' }]]],
    twin: [['/proof', [{ commit: 'b'.repeat(40), expected: 'PASS' }]]],
  },
  {
    code: 'LIMIT_OUT_OF_RANGE',
    pointer: '/environment/pidsLimit',
    edits: [['/environment/pidsLimit', 63]],
    twin: [['/environment/pidsLimit', 64]],
  },
  {
    code: 'LIMIT_OUT_OF_RANGE',
    pointer: '/environment/workspaceMB',
    edits: [['/environment/workspaceMB', 512]],
    twin: [['/environment/workspaceMB', 511]],
  },
  {
    code: 'LIMIT_OUT_OF_RANGE',
    pointer: '/environment/memoryMB',
    edits: [['/environment/memoryMB', 256.5]],
    twin: [['/environment/cpuCount', 0.5]],
  },
  {
    code: 'LIMIT_OUT_OF_RANGE',
    pointer: '/criteria/0/timeoutSeconds',
    edits: [['/criteria/0/timeoutSeconds', 0]],
    twin: [['/criteria/0/timeoutSeconds', 1]],
  },
  {
    code: 'LIMIT_OUT_OF_RANGE',
    pointer: '/settlement/feeBps',
    edits: [['/settlement/feeBps', 5_001]],
    twin: [['/settlement/feeBps', 5_000]],
  },
  {
    code: 'PATH_PATTERN_INVALID',
    pointer: '/constraints/protectedPaths/4',
    edits: [protect('../x')],
    twin: [protect('test/*.js')],
  },
  {
    code: 'PATH_PATTERN_INVALID',
    pointer: '/constraints/editablePaths/0',
    edits: [['/constraints/editablePaths', ['{a,b}']]],
    twin: [['/constraints/editablePaths', ['*.js']]],
  },
  {
    code: 'LANGUAGE_UNKNOWN',
    pointer: '/constraints/allowedLanguages/0',
    edits: [['/constraints/allowedLanguages', ['jawascript']]],
    twin: [['/constraints/allowedLanguages', ['TypeScript', 'js', 'c++']]],
  },
  {
    code: 'REGEX_REFUSED',
    pointer: '/criteria/3/assertion/value',
    edits: [extra(fileAssertion('x', { op: 'matches', value: '(a)\\1' }))],
    twin: [extra(fileAssertion('x', { op: 'matches', value: '(a)+$' }))],
  },
  {
    code: 'DUPLICATE_CRITERION_ID',
    pointer: '/criteria/1/id',
    edits: [['/criteria/1/id', 'tests-pass']],
    twin: [['/criteria/1/id', 'tests-pass-2']],
  },
  {
    code: 'DUPLICATE_CRITERION_ID',
    pointer: '/criteria/1/id',
    edits: [
      ['/criteria/1/id', 'tests-pass'],
      ['/colour', 1],
    ],
    twin: [],
  },
  {
    code: 'THRESHOLD_NOT_FINITE',
    pointer: '/criteria/3/metric/threshold',
    edits: [extra(benchmark({ threshold: Infinity }))],
    twin: [extra(benchmark({ threshold: -1.5 }))],
  },
  {
    code: 'THRESHOLD_NOT_FINITE',
    pointer: '/criteria/3/metric/threshold',
    edits: [
      extra({ ...benchmark(), metric: { name: 'x', unit: 'bytes', op: 'lt', threshold: 'NaN' } }),
    ],
    twin: [],
  },
  {
    code: 'TIME_UNIT_BENCHMARK',
    pointer: '/criteria/3/metric/unit',
    edits: [extra(benchmark({ unit: 'ms' }))],
    twin: [extra(benchmark({ unit: 'MiB' }))],
  },
  {
    code: 'TIME_UNIT_BENCHMARK',
    pointer: '/criteria/3/metric/name',
    edits: [extra(benchmark({ name: 'latency_p95', unit: 'count' }))],
    twin: [extra(benchmark({ name: 'timeout_errors', unit: 'count' }))],
  },
  {
    code: 'UNIT_UNREADABLE',
    pointer: '/criteria/3/metric/unit',
    edits: [extra(benchmark({ unit: 'mѕ' }))],
    twin: [extra(benchmark({ unit: 'Größe' }))],
  },
  {
    code: 'METRIC_INCOMPLETE',
    pointer: '/criteria',
    edits: [kind('benchmark')],
    twin: [
      kind('benchmark'),
      extra(benchmark()),
      ['/inputs', [{ path: 'check.js', description: 'corpus' }]],
    ],
  },
  {
    code: 'METRIC_INCOMPLETE',
    pointer: '/inputs',
    edits: [kind('benchmark'), extra(benchmark())],
    twin: [kind('benchmark'), extra({ ...benchmark(), visibility: 'hidden' })],
  },
  {
    code: 'METRIC_INCOMPLETE',
    pointer: '/criteria/3/metric/threshold',
    edits: [extra({ ...benchmark(), metric: { name: 'x', unit: 'bytes', op: 'lt' } })],
    twin: [extra(benchmark())],
  },
  {
    code: 'EXISTS_ONLY',
    pointer: '/criteria',
    edits: [
      [
        '/criteria',
        [
          fileAssertion('a.js', { op: 'exists' }),
          regression('sh "$KERVYXA_VERIFIER_PACKAGE/r.sh"'),
        ],
      ],
    ],
    twin: [['/criteria', [fileAssertion('a.js', { op: 'exists' }), exitCode('npm test')]]],
  },
  {
    code: 'NO_REGRESSION_CRITERION',
    pointer: '/criteria',
    edits: [['/criteria', [exitCode('npm test')]]],
    twin: [
      ['/criteria', [exitCode('npm test'), regression('sh "$KERVYXA_VERIFIER_PACKAGE/r.sh"')]],
    ],
  },
  {
    code: 'NO_CHANGED_FILE_LIMIT',
    pointer: '/constraints/maxChangedFiles',
    edits: [['/constraints/maxChangedFiles', REMOVE]],
    twin: [['/constraints/maxChangedFiles', 1]],
  },
  {
    code: 'NO_REFERENCE_OUTPUT',
    pointer: '/criteria',
    edits: [
      ...dataInputs,
      ['/criteria', [exitCode('npm test'), regression('sh "$KERVYXA_VERIFIER_PACKAGE/r.sh"')]],
    ],
    twin: [
      ...dataInputs,
      ['/criteria', [exitCode(compared), regression('sh "$KERVYXA_VERIFIER_PACKAGE/r.sh"')]],
    ],
  },
  {
    code: 'NO_HELD_OUT_SET',
    pointer: '/criteria',
    edits: [
      kind('model_evaluation'),
      ['/inputs', [{ path: 'check.js', description: 'x' }]],
      [
        '/criteria',
        [benchmark({ name: 'macro_f1', unit: 'f1' }), regression('npm test', 'public')],
      ],
    ],
    twin: [
      kind('model_evaluation'),
      [
        '/criteria',
        [
          {
            ...benchmark(
              { name: 'macro_f1', unit: 'f1' },
              'node "$KERVYXA_VERIFIER_PACKAGE/score.js"',
            ),
            visibility: 'hidden',
          },
        ],
      ],
    ],
  },
  {
    code: 'NO_HELD_OUT_SET',
    pointer: '/criteria',
    edits: [
      kind('document_extraction'),
      ['/criteria', [exitCode(compared), regression('npm test', 'public')]],
    ],
    twin: [kind('document_extraction'), ['/criteria/1', exitCode(compared)]],
  },
  {
    code: 'OPEN_ENDED_OBJECTIVE',
    pointer: '/objective',
    edits: [objective('parseNumbers must reject "x" and similar cases.')],
    twin: [objective('parseNumbers must reject "x" and "y"; similarly for 2 more.')],
  },
  {
    code: 'OPEN_ENDED_OBJECTIVE',
    pointer: '/objective',
    edits: [objective('Handle "a", "b", etc.')],
    twin: [objective('Read /etc/hosts and print "a".')],
  },
  {
    code: 'OPEN_ENDED_OBJECTIVE',
    pointer: '/objective',
    edits: [objective("Fix the parser, it's buggy.")],
    twin: [objective('Fix parseNumbers so that "x" throws.')],
  },
  {
    code: 'OPEN_ENDED_OBJECTIVE',
    pointer: '/constraints/notes',
    edits: [['/constraints/notes', 'Refactor where appropriate.']],
    twin: [['/constraints/notes', 'Leave lib/index.ts as it is.']],
  },
  {
    code: 'FLOATING_TARGET',
    pointer: '/objective',
    edits: [objective('Upgrade date-fns 2.0.0 to the latest version.')],
    twin: [objective('date-fns must be 3.6.0, not the latest version.')],
  },
  {
    code: 'FLOATING_TARGET',
    pointer: '/objective',
    edits: [kind('dependency_bump'), objective('date-fns must resolve to ^3.6.0.')],
    twin: [kind('dependency_bump'), objective('date-fns must resolve to exactly 3.6.0.')],
  },
  {
    code: 'FLOATING_TARGET',
    pointer: '/objective',
    edits: [kind('dependency_bump'), objective('"date-fns" must be upgraded.')],
    twin: [objective('The latest entry of "log.txt" wins.')],
  },
  {
    code: 'FLOATING_TARGET',
    pointer: '/criteria/1/command',
    edits: [command('npx --no-install eslint@latest .')],
    twin: [command('npx --no-install eslint@9.1.0 .')],
  },
  {
    code: 'COMMAND_SYNTAX',
    pointer: '/criteria/1/command',
    edits: [command("node -e 'x")],
    twin: [command("node -e 'x'")],
  },
  {
    code: 'COMMAND_SYNTAX',
    pointer: '/environment/setup/0/command',
    edits: [['/environment/setup/0/command', 'npm ci --offline &> log']],
    twin: [['/environment/setup/0/command', 'npm ci --offline > log 2>&1']],
  },
  {
    code: 'VACUOUS_COMMAND',
    pointer: '/criteria/1/command',
    edits: [command('true')],
    twin: [extra(fileAssertion('parseNumbers.js', { op: 'contains', value: 'TypeError' }))],
  },
  {
    code: 'VACUOUS_COMMAND',
    pointer: '/criteria/3/command',
    edits: [extra(benchmark({}, 'echo KERVYXA_METRIC=1'))],
    twin: [extra(benchmark())],
  },
  {
    code: 'VACUOUS_COMMAND',
    pointer: '/criteria/2/judge/command',
    edits: [['/criteria/2/judge/command', 'exit 0']],
    twin: [['/criteria/2/probe/command', 'true']],
  },
  {
    code: 'EXIT_CODE_MASKED',
    pointer: '/criteria/0/command',
    edits: [['/criteria/0/command', 'npm test || true']],
    twin: [['/criteria/0/command', 'npm test || exit 1']],
  },
  {
    code: 'EXIT_CODE_MASKED',
    pointer: '/criteria/0/command',
    edits: [['/criteria/0/command', 'npm test | tee log']],
    twin: [['/criteria/0/command', 'npm test > log']],
  },
  {
    code: 'NETWORK_REQUIRED',
    pointer: '/environment/setup/0/command',
    edits: [['/environment/setup/0/command', 'npm ci']],
    twin: [['/environment/setup/0/command', 'npm ci --offline']],
  },
  {
    code: 'NETWORK_REQUIRED',
    pointer: '/criteria/1/command',
    edits: [command('curl -sf https://example.org | grep -q ok')],
    twin: [command('grep -q curl check.js')],
  },
  {
    code: 'NETWORK_REQUIRED',
    pointer: '/objective',
    edits: [objective('Answers from the OpenAI API must score 0.8.')],
    twin: [objective('model.onnx must score 0.8 without a call to a hosted model API.')],
  },
  {
    code: 'GENERATED_FILE_IN_SEPARATE_CHECK',
    pointer: '/criteria/3/path',
    edits: [
      ...dataInputs,
      command(compared),
      extra(fileAssertion('rows.csv', { op: 'sha256', value: digest })),
    ],
    twin: [
      ...dataInputs,
      command(compared),
      extra(fileAssertion('rows.csv', { op: 'sha256', value: digest }, transform)),
    ],
    facts: dataFacts,
    twinFacts: dataFacts,
  },
  {
    code: 'GENERATED_FILE_IN_SEPARATE_CHECK',
    pointer: '/criteria/3/path',
    edits: [
      command('node check.js > report.txt'),
      extra(fileAssertion('report.txt', { op: 'contains', value: 'x' })),
    ],
    twin: [
      command('node check.js > report.txt'),
      ['/environment/setup/0/command', 'printf x > report.txt'],
      extra(fileAssertion('report.txt', { op: 'contains', value: 'x' })),
    ],
  },
  {
    code: 'INPUT_NOT_PROTECTED',
    pointer: '/inputs/0/path',
    edits: [['/inputs', [{ path: 'records.jsonl', description: 'x' }]]],
    twin: [['/inputs', [{ path: 'test/', description: 'x' }]]],
  },
  {
    code: 'INPUT_NOT_PROTECTED',
    pointer: '/inputs/0/path',
    edits: [['/inputs', [{ path: 'data/', description: 'x' }]], protect('data/a.csv')],
    twin: [['/inputs', [{ path: 'data/', description: 'x' }]], protect('data/**')],
    facts: goodFacts({ paths: ['data/a.csv', 'data/b.csv'] }),
    twinFacts: goodFacts({ paths: ['data/a.csv', 'data/b.csv'] }),
  },
  {
    code: 'INPUT_NOT_PROTECTED',
    pointer: '/criteria/1/command',
    edits: [command('node check.js words.txt')],
    twin: [command('node check.js absent.txt')],
    facts: goodFacts({ paths: [...goodFacts().paths, 'words.txt'] }),
  },
  {
    code: 'INPUT_NOT_PROTECTED',
    pointer: '/criteria/1/command',
    edits: [command('node parseNumbers.js && sha256sum -c sums.txt')],
    twin: [command('node parseNumbers.js && sha256sum -c test/sums.txt')],
  },
  {
    code: 'INPUT_NOT_PROTECTED',
    pointer: '/criteria/1/command',
    edits: [command('node parseNumbers.js > out.txt && cmp out.txt want.txt')],
    twin: [command('node parseNumbers.js > out.txt && cmp out.txt test/want.txt')],
  },
  {
    code: 'HARNESS_NOT_PROTECTED',
    pointer: '/criteria/1/command',
    edits: [command('node --disable-sigusr1 ./verify.js')],
    twin: [command('node --disable-sigusr1 ./check.js')],
  },
  {
    code: 'HARNESS_NOT_PROTECTED',
    pointer: '/criteria/1/command',
    edits: [command('cd . && ./tools/run')],
    twin: [command('node parseNumbers.js > out.txt && cmp out.txt test/want.txt')],
  },
  {
    code: 'HARNESS_NOT_PROTECTED',
    pointer: '/criteria/3/command',
    edits: [extra(benchmark({}, 'node bench.js'))],
    twin: [
      extra({ ...benchmark({}, 'node build.js'), source: 'artifact_bytes', path: 'dist/x.js' }),
    ],
  },
  {
    code: 'HARNESS_NOT_PROTECTED',
    pointer: '/criteria/1/command',
    edits: [command("sh -c 'sh verify.sh'")],
    twin: [command('sh "$KERVYXA_VERIFIER_PACKAGE/verify.sh"')],
  },
  {
    code: 'HARNESS_NOT_PROTECTED',
    pointer: '/criteria/0/command',
    edits: [],
    twin: [],
    facts: goodFacts({ files: new Map([['package.json', '{"scripts":{"test":"node run.js"}}']]) }),
  },
  {
    code: 'HARNESS_NOT_PROTECTED',
    pointer: '/criteria/1/command',
    edits: [command('python3 -m tools.verify')],
    twin: [command('python3 -m unittest')],
    facts: goodFacts({ paths: [...goodFacts().paths, 'tools/verify.py'] }),
  },
  {
    code: 'HARNESS_NOT_PROTECTED',
    pointer: '/criteria/1/command',
    edits: [
      command('node check.js'),
      ['/constraints/protectedPaths', ['package.json', '**/.npmrc', 'test/']],
    ],
    twin: [
      ['/constraints/protectedPaths', ['package.json', '**/.npmrc', 'test/']],
      ['/constraints/editablePaths', ['parseNumbers.js']],
    ],
  },
  {
    code: 'CONFIG_NOT_PROTECTED',
    pointer: '/constraints/protectedPaths',
    edits: [['/constraints/protectedPaths', ['package.json', 'test/', 'check.js']]],
    twin: [['/constraints/protectedPaths', ['package.json', '.npmrc', 'test/', 'check.js']]],
  },
  {
    code: 'CONFIG_NOT_PROTECTED',
    pointer: '/constraints/protectedPaths',
    edits: [command('npx --no-install eslint . --max-warnings=0')],
    twin: [
      command('npx --no-install eslint . --max-warnings=0'),
      protect('eslint.config.*', '**/.eslintrc*', '.eslintignore'),
    ],
  },
  {
    code: 'CONFIG_NOT_PROTECTED',
    pointer: '/constraints/protectedPaths',
    edits: [
      command('pytest -q'),
      protect('pytest.ini', '.pytest.ini', 'pyproject.toml', 'setup.cfg', 'tox.ini', 'conftest.py'),
    ],
    twin: [
      command('pytest -q'),
      protect(
        'pytest.ini',
        '.pytest.ini',
        'pyproject.toml',
        'setup.cfg',
        'tox.ini',
        '**/conftest.py',
      ),
    ],
  },
  {
    code: 'CONTRACT_BROKEN',
    pointer: '/repository/baseCommit',
    edits: [],
    twin: [],
    facts: goodFacts({ lfsPointers: ['model.bin'] }),
  },
  {
    code: 'ACKNOWLEDGEMENT_UNKNOWN',
    pointer: '/acknowledgements/0/code',
    edits: [acknowledged('NOT_A_CODE')],
    twin: [],
  },
  {
    code: 'ACKNOWLEDGEMENT_UNKNOWN',
    pointer: '/acknowledgements/0/code',
    edits: [acknowledged('TIME_UNIT_BENCHMARK'), extra(benchmark({ unit: 'ms' }))],
    twin: [acknowledged('TEST_COUNT_UNGUARDED')],
  },
  {
    code: 'ACKNOWLEDGEMENT_UNUSED',
    pointer: '/acknowledgements/0',
    edits: [acknowledged('CLOCK_IN_HARNESS')],
    twin: [acknowledged('CLOCK_IN_HARNESS'), extra(benchmark({}, 'date +%s; node check.js'))],
  },
  {
    code: 'PROTECTED_PATH_MATCHES_NOTHING',
    pointer: '/constraints/protectedPaths/4',
    edits: [protect('Test/')],
    twin: [protect('**/conftest.py', '.gitattributes')],
  },
  {
    code: 'CLOCK_IN_HARNESS',
    pointer: '/criteria/3/command',
    edits: [extra(benchmark())],
    twin: [extra(benchmark())],
    facts: goodFacts({ files: new Map([['check.js', 'const t = Date.now();']]) }),
  },
  {
    code: 'TEST_COUNT_UNGUARDED',
    pointer: '/criteria/0/command',
    edits: [],
    twin: [],
    facts: goodFacts({ paths: [...goodFacts().paths, 'src/other.test.js'] }),
  },
  {
    code: 'TEST_COUNT_UNGUARDED',
    pointer: '/criteria/0/command',
    edits: [['/criteria/2/visibility', 'public']],
    twin: [],
    facts: goodFacts({ paths: ['package.json'] }),
  },
  {
    code: 'NPX_NOT_LOCAL',
    pointer: '/criteria/1/command',
    edits: [command('npx eslint .')],
    twin: [command('npx eslint .')],
    twinFacts: goodFacts({
      files: new Map([['package.json', '{"devDependencies":{"eslint":"9.1.0"}}']]),
    }),
  },
  {
    code: 'SAME_CONTAINER_SECRET',
    pointer: '/criteria/3/command',
    edits: [extra(regression('sh "$KERVYXA_VERIFIER_PACKAGE/r.sh"'))],
    twin: [extra({ ...goodJudgeProbe(), id: 'second' })],
  },
];

const NUMBERED = ROWS.map((row, index) => ({ ...row, row: index }));

const codesAt = (pointer: string, edits: readonly Edit[], facts: BaseFacts | null) =>
  lintContract(editedContract(edits), facts)
    .filter((finding) => finding.pointer === pointer)
    .map(({ code }) => code);
const codesOf = (edits: readonly Edit[], facts: BaseFacts | null) =>
  lintContract(editedContract(edits), facts).map(({ code }) => code);

describe('lintContract', () => {
  it('has nothing against the good contract, with and without facts', () => {
    expect(lintContract(goodContract(), goodFacts())).toEqual([]);
    expect(lintContract(goodContract(), null)).toEqual([]);
  });

  it.each(NUMBERED)(
    'finds $code at $pointer (row $row)',
    ({ code, pointer, edits, facts = goodFacts() }) => {
      expect(codesAt(pointer, edits, facts)).toContain(code);
    },
  );

  it.each(NUMBERED)(
    'does not find $code in the twin (row $row)',
    ({ code, twin, twinFacts = goodFacts() }) => {
      expect(codesOf(twin, twinFacts)).not.toContain(code);
    },
  );

  it('has a row for every code of the table', () => {
    expect(new Set(ROWS.map(({ code }) => code))).toEqual(new Set(FINDING_CODES));
  });

  it('gives every finding the severity of the table, a message and a fix', () => {
    for (const { edits, facts = goodFacts() } of ROWS) {
      for (const finding of lintContract(editedContract(edits), facts)) {
        expect(finding.severity).toBe(FINDING_TABLE[finding.code].severity);
        expect(finding.message).toMatch(/^expected|^unknown|^invalid|^too/);
        expect(finding.fix).not.toBe('');
      }
    }
  });

  it('reports every fault at once, sorted by place', () => {
    const findings = lintContract(
      editedContract([
        ['/colour', 1],
        ['/title', REMOVE],
        ['/criteria/1/command', 'true'],
        ['/criteria/10', benchmark({ unit: 'ms' })],
        ['/repository/baseCommit', 'main'],
      ]),
      null,
    ).filter(({ pointer }) => !/^\/criteria\/[3-9]/.test(pointer));
    expect(findings.map(({ code, pointer }) => `${code} ${pointer}`)).toEqual([
      'SCHEMA_INVALID /colour',
      'VACUOUS_COMMAND /criteria/1/command',
      'TIME_UNIT_BENCHMARK /criteria/10/metric/unit',
      'BASE_COMMIT_NOT_PINNED /repository/baseCommit',
      'SCHEMA_INVALID /title',
    ]);
  });

  it('refuses a __proto__ key and reads nothing through it', () => {
    const text = JSON.stringify(goodContract()).replace('{', '{"__proto__": {"colour": 1},');
    expect(lintContract(JSON.parse(text), null)).toMatchObject([
      { code: 'SCHEMA_INVALID', pointer: '/__proto__' },
    ]);
  });

  it('shows no control character of the document', () => {
    const [finding] = lintContract(editedContract([['/\u001b[2J\u202e', 1]]), null);
    expect(finding?.message).toMatch(/^[\x20-\x7e]*$/);
  });

  it('checks the codes of TREE_RULES only as far as it can without facts', () => {
    const treeOnly = ROWS.filter(({ code, edits, pointer, facts = goodFacts() }) => {
      return facts !== null && !codesAt(pointer, edits, null).includes(code);
    }).map(({ code }) => code);
    // Without the operator's settings the prefix of the catalogue has to do, and an answer may be to a tree rule.
    expect([...TREE_RULES, 'IMAGE_NOT_PINNED', 'ACKNOWLEDGEMENT_UNUSED']).toEqual(
      expect.arrayContaining(treeOnly),
    );
  });

  it('never throws, whatever the document', () => {
    fc.assert(
      fc.property(fc.anything({ maxDepth: 4 }), (document) => {
        expect(lintContract(document, goodFacts()).length).toBeGreaterThan(0);
      }),
    );
  });

  it('never throws, whatever stands in one place of a good contract', () => {
    const pointers = pointersOf(goodContract());
    fc.assert(
      fc.property(
        fc.constantFrom(...pointers),
        fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.string({ unit: 'binary' })),
        (pointer, value) => {
          expect(lintContract(editedContract([[pointer, value]]), goodFacts())).toBeInstanceOf(
            Array,
          );
        },
      ),
      { numRuns: 500 },
    );
  });
});

function pointersOf(value: unknown, above = ''): string[] {
  if (typeof value !== 'object' || value === null) return [above];
  return Object.entries(value).flatMap(([key, inner]) => {
    const own = `${above}/${key}`;
    return typeof inner === 'object' ? [own, ...pointersOf(inner, own)] : [own];
  });
}

describe('approveContract', () => {
  const clocked: Edit = extra(benchmark({}, 'date +%s; node check.js'));

  it('approves the good contract and names it', () => {
    const {
      approved,
      contract,
      digest: name,
      findings,
    } = approveContract(goodContract(), goodFacts());
    expect({ approved, findings }).toEqual({ approved: true, findings: [] });
    expect(contract?.constraints.notes).toBe('');
    expect(name).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  it('refuses while a finding that wants an answer has none', () => {
    expect(approveContract(editedContract([clocked]), goodFacts()).approved).toBe(false);
  });

  it('approves once it is answered with a reason, and keeps the reason beside it', () => {
    const document = editedContract([clocked, acknowledged('CLOCK_IN_HARNESS', 'only a log line')]);
    expect(approveContract(document, goodFacts())).toMatchObject({
      approved: true,
      findings: [{ code: 'CLOCK_IN_HARNESS', acknowledgement: 'only a log line' }],
    });
  });

  it('takes no blank for a reason', () => {
    const document = editedContract([clocked, acknowledged('CLOCK_IN_HARNESS', ' ')]);
    expect(approveContract(document, goodFacts()).approved).toBe(false);
  });

  it('can not be talked out of a finding that refuses', () => {
    const document = editedContract([
      extra(benchmark({ unit: 'ms' })),
      acknowledged('TIME_UNIT_BENCHMARK'),
    ]);
    expect(approveContract(document, goodFacts()).approved).toBe(false);
  });

  it('approves with advice open', () => {
    const document = editedContract([extra(regression('sh "$KERVYXA_VERIFIER_PACKAGE/r.sh"'))]);
    expect(approveContract(document, goodFacts())).toMatchObject({
      approved: true,
      findings: [{ code: 'SAME_CONTAINER_SECRET' }],
    });
  });

  it('has no contract and no digest for what the schema refuses', () => {
    expect(approveContract({}, null)).toMatchObject({
      approved: false,
      contract: null,
      digest: null,
    });
  });
});

describe('interestingBaseFiles', () => {
  it('wants package.json and the scripts that judge, as far as they are there', () => {
    const paths = ['a.js', 'bench/run.js', 'check.js', 'package.json', 'sub/package.json'];
    expect(interestingBaseFiles(paths, goodContract())).toEqual([
      'package.json',
      'check.js',
      'bench/run.js',
    ]);
  });

  it('answers for a document that is none', () => {
    expect(interestingBaseFiles(['a.js'], 'x')).toEqual([]);
  });
});

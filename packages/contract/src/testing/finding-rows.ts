import type { BaseFacts, OperatorSettings } from '../facts.ts';
import type { FindingCode } from '../finding-table.ts';
import {
  benchmark,
  checker,
  exitCode,
  fileAssertion,
  goodFacts,
  goodJudgeProbe,
  REMOVE,
  type Edit,
  GOOD_SETTINGS,
} from './good-contract.ts';

export interface FindingRow {
  readonly code: FindingCode;
  readonly pointer: string;
  readonly edits: readonly Edit[];
  /** Close to it, and not at fault. */
  readonly twin: readonly Edit[];
  readonly facts?: BaseFacts | null;
  readonly twinFacts?: BaseFacts;
  readonly twinSettings?: OperatorSettings;
}

const digest = '5'.repeat(64);
const objective = (text: string): Edit => ['/objective', text];
const kind = (text: string): Edit => ['/kind', text];
const protect = (...paths: string[]): Edit => [
  '/constraints/protectedPaths',
  ['package.json', 'package-lock.json', '**/.npmrc', 'test/', 'check.js', ...paths],
];
const PRETTIER_CONFIGS = [
  '.prettierignore',
  '**/.prettierrc*',
  '**/prettier.config.*',
  '**/.editorconfig',
  '**/package.json',
  '**/package.yaml',
];
const command = (text: string): Edit => ['/criteria/1/command', text];
export const extra = (value: unknown): Edit => ['/criteria/3', value];
export const acknowledged = (code: string, reason = 'known'): Edit => [
  '/acknowledgements',
  [{ code, reason }],
];
const METRIC = { name: 'm', unit: 'bytes' };
const counted = (text: string) => ({
  ...benchmark({}, text),
  source: 'node_block_count',
  stdoutSha256: digest,
});
export const regression = (text: string, visibility = 'hidden') => ({
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

/** A command whose answer hangs on names that the solver may add, and the same with these names protected. */
function opened(text: string, names: readonly string[], edits: readonly Edit[] = []): FindingRow[] {
  const pointer = '/constraints/protectedPaths';
  const scripts = ['tools/check.py', 'tools/venv/bin/python'];
  return names.map((_, left) => ({
    code: 'CONFIG_NOT_PROTECTED',
    pointer,
    edits: [command(text), ...edits, protect(...scripts, ...names.toSpliced(left, 1))],
    twin: [command(text), ...edits, protect(...scripts, ...names)],
  }));
}

/** One fault each, as edits of the good contract. */
export const FINDING_ROWS: FindingRow[] = [
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
    code: 'SCHEMA_INVALID',
    pointer: '/criteria/1/command',
    edits: [command('$('.repeat(1_000))],
    twin: [command(`test "${'$(cat check.js)'.repeat(90)}" = x`)],
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
    twinSettings: { ...GOOD_SETTINGS, allowedOrigins: ['http://127.0.0.1:8080'] },
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
    code: 'LIMIT_OUT_OF_RANGE',
    pointer: '/settlement/challengeWindowSeconds',
    edits: [['/settlement/challengeWindowSeconds', 59]],
    twin: [['/settlement/challengeWindowSeconds', 60]],
  },
  {
    code: 'LIMIT_OUT_OF_RANGE',
    pointer: '/settlement/responseWindowSeconds',
    edits: [['/settlement/responseWindowSeconds', 0]],
    twin: [['/settlement/responseWindowSeconds', 1]],
    twinSettings: { ...GOOD_SETTINGS, windowSecondsMin: 1 },
  },
  {
    code: 'PATH_PATTERN_INVALID',
    pointer: '/constraints/protectedPaths/5',
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
    code: 'THRESHOLD_NOT_FINITE',
    pointer: '/criteria/3/metric/threshold',
    edits: [extra(benchmark({ threshold: 9_007_199_254_740_992 }))],
    twin: [extra(benchmark({ threshold: 9_007_199_254_740_991 }))],
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
    code: 'ANSWER_NOT_PINNED',
    pointer: '/criteria/3',
    edits: [extra({ ...benchmark(), source: 'node_block_count' })],
    twin: [extra(counted('node check.js'))],
  },
  ...[
    'node check.js | tail -1',
    'cd lib && node check.js',
    'NODE_OPTIONS=-r./x node check.js',
    'npm run count',
    '(node check.js)',
    'node check.js &',
    'python3 check.py',
    '"$NODE" check.js',
    '# how much work it is\nnode check.js',
    'node check.js\nnode other.js',
    'node check.js > answers.txt',
    'node check.js 2>&1',
    'node --stack-size=9000 check.js',
    'node',
  ].map((text): FindingRow => ({
    code: 'COUNTED_COMMAND_UNFIT',
    pointer: '/criteria/3/command',
    edits: [extra(counted(text))],
    twin: [extra(counted('node check.js "$KERVYXA_VERIFIER_PACKAGE/words.txt" <input.txt'))],
  })),
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
    twin: [extra({ ...benchmark({}, 'true'), source: 'artifact_bytes', path: 'parseNumbers.js' })],
  },
  {
    code: 'VACUOUS_COMMAND',
    pointer: '/criteria/2/judge/command',
    edits: [['/criteria/2/judge/command', 'exit 0']],
    twin: [['/criteria/2/probe/command', 'true']],
  },
  // A checker over what no commit may change says the same of each.
  {
    code: 'VACUOUS_COMMAND',
    pointer: '/criteria/3/artifacts',
    edits: [extra(checker({ artifacts: [{ role: 'module', path: 'check.js' }] }))],
    twin: [
      extra(
        checker({
          artifacts: [
            { role: 'harness', path: 'check.js' },
            { role: 'module', path: 'parseNumbers.js' },
          ],
        }),
      ),
    ],
  },
  {
    code: 'VACUOUS_COMMAND',
    pointer: '/criteria/3/artifacts',
    edits: [extra(checker({ artifacts: [] }))],
    twin: [extra(checker({ artifacts: [], summary: 'ANSWER.md' }))],
  },
  {
    code: 'VACUOUS_COMMAND',
    pointer: '/criteria/3/artifacts',
    edits: [extra(checker({ artifacts: [{ role: 'module', path: 'answer.py' }] }))],
    twin: [extra(checker({ artifacts: [{ role: 'module', path: 'answer.json' }] }))],
  },
  {
    code: 'SCHEMA_INVALID',
    pointer: '/criteria/3/artifacts/1/role',
    edits: [
      extra(
        checker({
          artifacts: [
            { role: 'module', path: 'parseNumbers.js' },
            { role: 'module', path: 'other.js' },
          ],
        }),
      ),
    ],
    twin: [extra(checker())],
  },
  {
    code: 'SCHEMA_INVALID',
    pointer: '/criteria/3/artifacts/0/path',
    edits: [extra(checker({ artifacts: [{ role: 'module', path: '../answer.json' }] }))],
    twin: [extra(checker({ artifacts: [{ role: 'module', path: 'a..b/answer.json' }] }))],
  },
  {
    code: 'SCHEMA_INVALID',
    pointer: '/criteria/3/artifacts/0/role',
    edits: [extra(checker({ artifacts: [{ role: 'The-Module', path: 'parseNumbers.js' }] }))],
    twin: [extra(checker({ artifacts: [{ role: 'the_module', path: 'parseNumbers.js' }] }))],
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
    pointer: '/criteria/1/command',
    edits: [kind('benchmark'), extra(benchmark())],
    twin: [],
    facts: goodFacts({ files: new Map([['check.js', "post('https://api.openai.com/v1/x')"]]) }),
    twinFacts: goodFacts({ files: new Map([['check.js', "post('https://api.openai.com/v1/x')"]]) }),
  },
  {
    code: 'HARNESS_NOT_PROTECTED',
    pointer: '/criteria/3/command',
    edits: [extra(counted('node bench/run.js'))],
    twin: [extra(counted('node cli.js words.txt'))],
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
    edits: [kind('model_evaluation'), objective('Answers from the OpenAI API must score 0.8.')],
    twin: [
      kind('model_evaluation'),
      objective('model.onnx must score 0.8 without a call to a hosted model API.'),
    ],
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
    edits: [kind('benchmark'), command('node check.js words.txt')],
    twin: [command('grep -q x words.txt')],
    twinFacts: goodFacts({ paths: [...goodFacts().paths, 'words.txt'] }),
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
    twin: [
      [
        '/constraints/protectedPaths',
        ['package.json', 'package-lock.json', '.npmrc', 'test/', 'check.js'],
      ],
    ],
  },
  {
    code: 'CONFIG_NOT_PROTECTED',
    pointer: '/constraints/protectedPaths',
    edits: [command('npx --no-install eslint . --max-warnings=0')],
    twin: [
      command('npx --no-install eslint . --max-warnings=0'),
      protect('**/eslint.config.*', '**/.eslintrc*', '.eslintignore'),
    ],
  },
  {
    // eslint takes the config nearest to a file, so one in a folder outranks the protected one at the root.
    code: 'CONFIG_NOT_PROTECTED',
    pointer: '/constraints/protectedPaths',
    edits: [
      command('npx --no-install eslint . --max-warnings=0'),
      protect('eslint.config.*', '**/.eslintrc*', '.eslintignore'),
    ],
    twin: [
      command('npx --no-install eslint . --max-warnings=0'),
      protect('**/eslint.config.*', '**/.eslintrc*', '.eslintignore'),
    ],
  },
  {
    // Prettier leaves out what git ignores.
    code: 'CONFIG_NOT_PROTECTED',
    pointer: '/constraints/protectedPaths',
    edits: [command('npx --no-install prettier --check .'), protect(...PRETTIER_CONFIGS)],
    twin: [
      command('npx --no-install prettier --check .'),
      protect(...PRETTIER_CONFIGS, '.gitignore'),
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
    // The lock file says which programs a package brings: one called `node` comes before the real one.
    code: 'CONFIG_NOT_PROTECTED',
    pointer: '/constraints/protectedPaths',
    edits: [['/constraints/protectedPaths', ['package.json', '**/.npmrc', 'test/', 'check.js']]],
    twin: [protect()],
  },
  ...opened(
    'npm test',
    ['node_modules/.bin/'],
    [
      ['/environment/setup', []],
      ['/constraints/allowedLanguages', []],
    ],
  ),
  ...opened(
    'python3 tools/check.py',
    ['tools/*.py', 'tools/*/__init__.py'],
    [['/constraints/allowedLanguages', ['python']]],
  ),
  ...opened(
    'PYTHONPATH=lib node check.js',
    ['lib/*.py', 'lib/*/__init__.py'],
    [['/constraints/allowedLanguages', []]],
  ),
  ...opened(
    'PATH=./tools:$PATH node check.js',
    ['tools/'],
    [['/constraints/allowedLanguages', []]],
  ),
  ...opened('node --env-file=ci.env check.js', ['ci.env']),
  ...opened('tools/venv/bin/python -I check.js', ['tools/venv/']),
  ...opened('make -C tools check', ['tools/Makefile']),
  {
    code: 'CONTRACT_BROKEN',
    pointer: '/repository/baseCommit',
    edits: [],
    twin: [],
    facts: goodFacts({ lfsPointers: ['model.bin'] }),
  },
  {
    code: 'CONTRACT_BROKEN',
    pointer: '/repository/baseCommit',
    edits: [],
    twin: [],
    facts: goodFacts({ layoutProblem: 'the path \ufffd is not UTF-8' }),
    twinFacts: goodFacts({ layoutProblem: null }),
  },
  {
    code: 'VACUOUS_COMMAND',
    pointer: '/criteria/0/command',
    edits: [],
    twin: [],
    facts: goodFacts({ files: new Map([['package.json', '{"scripts": {"test": "exit 0"}}']]) }),
  },
  {
    code: 'EXIT_CODE_MASKED',
    pointer: '/criteria/1/command',
    edits: [command('for file in *.check.js; do node "$file"; done')],
    twin: [command('for file in *.check.js; do node "$file" || exit 1; done')],
  },
  {
    code: 'EXISTS_ONLY',
    pointer: '/criteria',
    edits: [
      [
        '/criteria',
        [
          exitCode('test -f out.txt && [ -s out.txt ]', 'there'),
          fileAssertion('out.txt', { op: 'matches', value: '.*' }),
          regression('sh "$KERVYXA_VERIFIER_PACKAGE/r.sh"'),
        ],
      ],
    ],
    twin: [
      [
        '/criteria',
        [
          exitCode('test -f out.txt && node check.js', 'there'),
          fileAssertion('out.txt', { op: 'matches', value: '^[0-9]+$' }),
          regression('sh "$KERVYXA_VERIFIER_PACKAGE/r.sh"'),
        ],
      ],
    ],
  },
  ...[
    { link: 'test', target: 'spec', rule: 'test/', twin: 'spec/' },
    { link: 'test/data', target: '../shared/data', rule: 'test/', twin: 'shared/data' },
    { link: 'judge', target: './lib/../src', rule: 'judge/run.js', twin: 'src/run.js' },
  ].map(({ link, target, rule, twin }): FindingRow => {
    const facts = goodFacts({
      paths: [...goodFacts().paths, 'judge/run.js', link, `${twin.replace(/\/$/, '')}/x`],
      links: new Map([[link, target]]),
    });
    return {
      code: 'PROTECTED_LINK_OPEN',
      pointer: '/constraints/protectedPaths',
      edits: [protect(rule)],
      twin: [protect(rule, twin)],
      facts,
      twinFacts: facts,
    };
  }),
  {
    code: 'TEST_COUNT_UNGUARDED',
    pointer: '/criteria/1/command',
    edits: [command('npx --no-install jest --passWithNoTests unit')],
    twin: [command('npx --no-install jest unit')],
  },
  {
    code: 'INPUT_NOT_PROTECTED',
    pointer: '/inputs/0/path',
    edits: [['/inputs', [{ path: 'data/', description: 'd' }]], protect('data/a.csv')],
    twin: [['/inputs', [{ path: 'data/', description: 'd' }]], protect('data/')],
    facts: goodFacts({ paths: [...goodFacts().paths, 'data/a.csv'] }),
    twinFacts: goodFacts({ paths: [...goodFacts().paths, 'data/a.csv'] }),
  },
  {
    code: 'INPUT_NOT_PROTECTED',
    pointer: '/inputs/0/path',
    edits: [['/inputs', [{ path: 'data/*.csv', description: 'd' }]], protect('data/a.csv')],
    twin: [['/inputs', [{ path: 'data/*.csv', description: 'd' }]], protect('data/*.csv')],
    facts: goodFacts({ paths: [...goodFacts().paths, 'data/a.csv'] }),
    twinFacts: goodFacts({ paths: [...goodFacts().paths, 'data/a.csv'] }),
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
    pointer: '/constraints/protectedPaths/5',
    edits: [protect('Test/')],
    twin: [
      protect('**/conftest.py', '.gitattributes', '.gitignore', '**/node_modules/', '**/.svn/'),
    ],
  },
  {
    code: 'CLOCK_IN_HARNESS',
    pointer: '/criteria/1/command',
    edits: [command('timeout 0.005 node check.js')],
    twin: [command('timeout 5 node check.js')],
  },
  {
    code: 'VACUOUS_COMMAND',
    pointer: '/criteria/3/metric/threshold',
    edits: [extra({ ...counted('node check.js'), metric: { ...METRIC, op: 'gte', threshold: 0 } })],
    twin: [extra({ ...counted('node check.js'), metric: { ...METRIC, op: 'gte', threshold: 1 } })],
  },
  {
    code: 'VACUOUS_COMMAND',
    pointer: '/criteria/3/metric/threshold',
    edits: [extra({ ...counted('node check.js'), metric: { ...METRIC, op: 'lt', threshold: 0 } })],
    twin: [extra({ ...counted('node check.js'), metric: { ...METRIC, op: 'lte', threshold: 0 } })],
  },
  {
    code: 'VACUOUS_COMMAND',
    pointer: '/criteria/1/command',
    edits: [command('git diff --exit-code')],
    twin: [
      command('git diff --exit-code'),
      ['/environment/setup/1', { command: 'git init -q && git add -A', timeoutSeconds: 10 }],
    ],
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
    twinFacts: goodFacts({ paths: [...goodFacts().paths, '.github/workflows/tests.yml'] }),
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
  {
    code: 'SAME_CONTAINER_SECRET',
    pointer: '/criteria/3/command',
    edits: [extra({ ...exitCode('node "$KERVYXA_VERIFIER_PACKAGE/c.js"'), visibility: 'hidden' })],
    twin: [
      extra(regression('kervyxa-run node a.js | cmp - "$KERVYXA_VERIFIER_PACKAGE/expected.txt"')),
    ],
  },
  {
    code: 'SAME_CONTAINER_SECRET',
    pointer: '/criteria/3/command',
    edits: [
      extra({
        ...benchmark({}, 'kervyxa-run node "$KERVYXA_VERIFIER_PACKAGE/score.js"'),
        visibility: 'hidden',
      }),
    ],
    twin: [extra({ ...benchmark({}, 'node score.js'), visibility: 'hidden' })],
  },
  {
    code: 'COMPLETION_UNPROVED',
    pointer: '/criteria/3',
    edits: [extra(benchmark())],
    twin: [extra({ ...benchmark(), completion: 'token' })],
  },
  {
    code: 'COMPLETION_UNPROVED',
    pointer: '/criteria/3',
    edits: [extra({ ...benchmark(), source: 'marker', completion: 'none' })],
    twin: [extra({ ...benchmark(), source: 'artifact_bytes', path: 'dist/x.js' })],
  },
  {
    code: 'SCHEMA_INVALID',
    pointer: '/criteria/3/completion',
    edits: [extra({ ...benchmark(), source: 'artifact_bytes', path: 'x.js', completion: 'token' })],
    twin: [extra({ ...benchmark(), source: 'artifact_bytes', path: 'x.js', completion: 'none' })],
  },
  ...[
    [['stdout'], 0],
    [['stdout/a.json'], 0],
    [['a.json', 'b.json', 'a.json'], 2],
    [['a', 'a/b.json'], 1],
    [['a/b.json', 'a'], 1],
  ].map(([outputs, index]): FindingRow => ({
    code: 'SCHEMA_INVALID',
    pointer: `/criteria/2/probe/outputs/${String(index)}`,
    edits: [['/criteria/2/probe/outputs', outputs]],
    twin: [['/criteria/2/probe/outputs', ['a.json', 'a.jsonl', 'b/stdout', 'Stdout']]],
  })),
  {
    code: 'NOT_IN_CONTAINER',
    pointer: '/criteria/2/judge/command',
    edits: [['/criteria/2/visibility', 'public']],
    twin: [
      ['/criteria/2/visibility', 'public'],
      ['/criteria/2/probe/command', 'node answer.js'],
      ['/criteria/2/judge/command', 'test -s "$KERVYXA_PROBE_OUTPUT/out.json"'],
    ],
  },
  ...[
    ['/criteria/2/probe/command', 'node "$KERVYXA_VERIFIER_PACKAGE/probe/probe.js"'],
    ['/criteria/2/probe/command', 'node a.js > "${KERVYXA_PROBE_OUTPUT}/out.json"'],
    ['/criteria/2/judge/command', 'node "$KERVYXA_VERIFIER_PACKAGE/j.js" "$KERVYXA_PROBE"'],
    ['/criteria/2/judge/command', 'node check.js "$KERVYXA_PROBE_OUTPUT"'],
    ['/criteria/1/command', 'node check.js "$KERVYXA_VERIFIER_PACKAGE/cases.json"'],
    ['/environment/setup/0/command', 'cp -r "$KERVYXA_VERIFIER_PACKAGE" .'],
  ].map(([pointer = '', text]): FindingRow => ({
    code: 'NOT_IN_CONTAINER',
    pointer,
    edits: [[pointer, text]],
    twin: [
      ['/criteria/2/judge/command', 'cd "$KERVYXA_VERIFIER_PACKAGE" && node check.js'],
      extra(regression('node check.js "$KERVYXA_VERIFIER_PACKAGE/cases.json"')),
    ],
  })),
];

import { describe, expect, it } from 'vitest';

import type { FindingCode } from './finding-table.ts';
import { approveContract } from './lint.ts';
import {
  benchmark,
  editedContract,
  exitCode,
  fileAssertion,
  goodFacts,
  REMOVE,
  type Edit,
} from './testing/good-contract.ts';

const digest = '5'.repeat(64);
const regression = {
  ...exitCode('sh "$KERVYXA_VERIFIER_PACKAGE/run-regression.sh"', 'regression'),
  type: 'regression',
  visibility: 'hidden',
};
const npmTest = exitCode('npm test', 'tests-pass');
const compare = (output: string) =>
  `printf '%s  %s\\n' ${digest} ${output} | sha256sum -c --status`;
const criteria = (...list: unknown[]): Edit => ['/criteria', list];
const objective = (text: string): Edit => ['/objective', text];
const protect = (...list: string[]): Edit => ['/constraints/protectedPaths', list];
const editable = (...list: string[]): Edit => ['/constraints/editablePaths', list];
const inputs = (...list: string[]): Edit => [
  '/inputs',
  list.map((path) => ({ path, description: 'frozen input' })),
];

interface Example {
  readonly name: string;
  /** What makes the good contract into this example. */
  readonly edits: readonly Edit[];
  readonly paths: readonly string[];
  /** Each "invalid if" of the example: what it says, the edits on top, and what refuses it. */
  readonly invalidIf: readonly (readonly [string, readonly Edit[], FindingCode])[];
}

const EXAMPLES: readonly Example[] = [
  {
    name: 'a bug fix',
    paths: ['package.json', 'parseNumbers.js', 'test/a.test.js'],
    edits: [
      objective(
        'parseNumbers(input) must throw TypeError for every entry in ["12,abc", "1,,2", "1,Infinity", "x", "NaN"].',
      ),
      protect('package.json', '.npmrc', 'test/'),
      criteria(npmTest, exitCode("node -e 'process.exit(1)'"), regression),
    ],
    invalidIf: [
      ['no list of inputs', [objective("Fix the parser, it's buggy.")], 'OPEN_ENDED_OBJECTIVE'],
      [
        'an open list',
        [objective('parseNumbers must throw for "12,abc" and similar cases.')],
        'OPEN_ENDED_OBJECTIVE',
      ],
      ['no regression criterion', [criteria(npmTest)], 'NO_REGRESSION_CRITERION'],
    ],
  },
  {
    name: 'test creation',
    paths: ['package.json', 'isPalindrome.js'],
    edits: [
      ['/kind', 'test_creation'],
      objective('A passing test suite for isPalindrome must exist and run under npm test.'),
      protect('package.json', '.npmrc', 'isPalindrome.js'),
      criteria(fileAssertion('isPalindrome.test.js', { op: 'exists' }), npmTest, regression),
    ],
    invalidIf: [
      [
        'only exists',
        [criteria(fileAssertion('isPalindrome.test.js', { op: 'exists' }), regression)],
        'EXISTS_ONLY',
      ],
      ['no function named', [objective('Add some tests.')], 'OPEN_ENDED_OBJECTIVE'],
    ],
  },
  {
    name: 'a dependency bump',
    paths: ['package.json', 'package-lock.json', 'index.js', 'test/a.test.js'],
    edits: [
      ['/kind', 'dependency_bump'],
      objective('date-fns must resolve to exactly 3.6.0 in the lockfile.'),
      protect('.npmrc', 'test/'),
      editable('package.json', 'package-lock.json'),
      criteria(npmTest, exitCode("node -e 'process.exit(1)'"), regression),
      [
        '/acknowledgements',
        [{ code: 'CONFIG_NOT_PROTECTED', reason: 'package.json is what is bought' }],
      ],
    ],
    invalidIf: [
      ['no package, no version', [objective('Upgrade our dependencies.')], 'FLOATING_TARGET'],
      ['the latest', [objective('Upgrade date-fns to the latest version.')], 'FLOATING_TARGET'],
      ['no limit', [['/constraints/maxChangedFiles', REMOVE]], 'NO_CHANGED_FILE_LIMIT'],
    ],
  },
  {
    name: 'a data transformation',
    paths: ['package.json', 'transform.js', 'records.jsonl'],
    edits: [
      ['/kind', 'data_transform'],
      objective('node transform.js records.jsonl rows.csv must write RFC 4180 CSV.'),
      inputs('records.jsonl'),
      protect('records.jsonl', 'package.json'),
      criteria(
        exitCode(`node transform.js records.jsonl rows.csv && ${compare('rows.csv')}`),
        regression,
      ),
    ],
    invalidIf: [
      ['no reference output', [criteria(npmTest, regression)], 'NO_REFERENCE_OUTPUT'],
      [
        'a file from another check',
        [
          criteria(
            exitCode(`node transform.js records.jsonl rows.csv && ${compare('rows.csv')}`),
            fileAssertion('rows.csv', { op: 'sha256', value: digest }),
            regression,
          ),
        ],
        'GENERATED_FILE_IN_SEPARATE_CHECK',
      ],
      ['an open input', [protect('package.json')], 'INPUT_NOT_PROTECTED'],
      [
        'an open input, not even listed',
        [protect('package.json'), inputs()],
        'INPUT_NOT_PROTECTED',
      ],
    ],
  },
  {
    name: 'document extraction',
    paths: ['package.json', 'extract.js', 'invoices/1.pdf', 'invoices/2.pdf', 'reference/r.csv'],
    edits: [
      ['/kind', 'document_extraction'],
      objective(
        'extract.js run over the 50 protected PDFs in invoices/ must emit extracted.csv with the columns vendor, date and total_cents, sorted by filename.',
      ),
      inputs('invoices/'),
      protect('invoices/', 'reference/'),
      criteria(
        exitCode(`node extract.js invoices > extracted.csv && ${compare('extracted.csv')}`),
        regression,
      ),
    ],
    invalidIf: [
      ['no columns', [objective('Pull the important fields.')], 'OPEN_ENDED_OBJECTIVE'],
      [
        'no held-out batch',
        [
          criteria(
            exitCode(`node extract.js invoices > extracted.csv && ${compare('extracted.csv')}`),
            { ...regression, visibility: 'public' },
          ),
        ],
        'NO_HELD_OUT_SET',
      ],
      [
        'documents that are not fixed',
        [objective('extract.js must read whatever invoices come in next month to extracted.csv.')],
        'OPEN_ENDED_OBJECTIVE',
      ],
    ],
  },
  {
    name: 'a benchmark',
    paths: ['package.json', 'index.js', 'bench-memory.js', 'corpus-250k.txt', 'test/a.test.js'],
    edits: [
      ['/kind', 'benchmark'],
      objective("Cut buildIndex()'s peak heap for 250,000 words to under 60,000,000 bytes."),
      inputs('corpus-250k.txt'),
      protect('bench-memory.js', 'corpus-250k.txt', 'package.json', '.npmrc', 'test/'),
      criteria(benchmark({}, 'node bench-memory.js  # prints one marker'), npmTest, regression),
    ],
    invalidIf: [
      [
        'wall-clock time',
        [
          criteria(
            benchmark({ name: 'p95 latency', unit: 'ms' }, 'node bench-memory.js'),
            regression,
          ),
        ],
        'TIME_UNIT_BENCHMARK',
      ],
      ['no fixed corpus', [inputs()], 'METRIC_INCOMPLETE'],
      [
        'no fixed harness',
        [protect('corpus-250k.txt', 'package.json', '.npmrc', 'test/')],
        'HARNESS_NOT_PROTECTED',
      ],
      [
        'no check of the output',
        [criteria(benchmark({}, 'node bench-memory.js'), npmTest)],
        'NO_REGRESSION_CRITERION',
      ],
    ],
  },
  {
    name: 'a model evaluation',
    paths: ['package.json', 'train.jsonl', 'label_public_sample.jsonl', 'smoke-test.js'],
    edits: [
      ['/kind', 'model_evaluation'],
      objective('model/classifier.onnx must score macro-F1 >= 0.82, with no network access.'),
      inputs('train.jsonl', 'label_public_sample.jsonl'),
      protect('train.jsonl', 'label_public_sample.jsonl', 'smoke-test.js'),
      criteria(
        exitCode('node smoke-test.js'),
        {
          ...benchmark(
            { name: 'macro_f1', unit: 'f1', threshold: 0.82 },
            'node "$KERVYXA_VERIFIER_PACKAGE/score.js"',
          ),
          visibility: 'hidden',
        },
        regression,
      ),
    ],
    invalidIf: [
      [
        'no metric',
        [
          objective("Improve the model's quality."),
          criteria(exitCode('node smoke-test.js'), regression),
        ],
        'METRIC_INCOMPLETE',
      ],
      [
        'a hosted model',
        [objective('Answers of a hosted model API must score macro-F1 >= 0.82.')],
        'NETWORK_REQUIRED',
      ],
      [
        'a visible test set',
        [criteria(benchmark({ name: 'macro_f1', unit: 'f1' }, 'node smoke-test.js'), regression)],
        'NO_HELD_OUT_SET',
      ],
    ],
  },
  {
    name: 'maintenance',
    paths: ['package.json', '.eslintrc.json', '.prettierrc', 'lib/index.ts'],
    edits: [
      ['/kind', 'maintenance'],
      objective(
        'eslint --max-warnings=0 must exit 0, prettier --check must exit 0, and the exports of lib/index.ts stay.',
      ),
      protect(
        '**/package.json',
        '**/package.yaml',
        '**/.eslintrc*',
        '.eslintignore',
        '**/eslint.config.*',
        '**/.prettierrc*',
        '**/prettier.config.*',
        '.prettierignore',
        '.gitignore',
        '**/.editorconfig',
      ),
      ['/constraints/maxChangedFiles', 40],
      criteria(
        exitCode('npx eslint . --max-warnings=0', 'lint'),
        exitCode('npx prettier --check .', 'format'),
        regression,
      ),
    ],
    invalidIf: [
      ['no commands named', [objective('Clean up the codebase.')], 'OPEN_ENDED_OBJECTIVE'],
      ['open configuration', [protect('package.json')], 'CONFIG_NOT_PROTECTED'],
      [
        'no check of the exports',
        [criteria(exitCode('npx eslint . --max-warnings=0', 'lint'))],
        'NO_REGRESSION_CRITERION',
      ],
    ],
  },
];

describe('the eight example contracts', () => {
  it.each(EXAMPLES)('approves $name', ({ edits, paths }) => {
    const { approved, findings } = approveContract(editedContract(edits), goodFacts({ paths }));
    const blocking = findings.filter(({ severity, acknowledgement }) => {
      return severity !== 'advise' && acknowledgement === null;
    });
    expect(blocking).toEqual([]);
    expect(approved).toBe(true);
  });

  const invalid = EXAMPLES.flatMap(({ name, edits, paths, invalidIf }) =>
    invalidIf.map(([why, more, code]) => ({ name, why, paths, code, edits: [...edits, ...more] })),
  );
  it.each(invalid)('refuses $name with $why as $code', ({ edits, paths, code }) => {
    const { approved, findings } = approveContract(editedContract(edits), goodFacts({ paths }));
    expect(findings.map((finding) => finding.code)).toContain(code);
    expect(approved).toBe(false);
  });
});

import {
  contractDigest,
  type ContractInput,
  ContractSchema,
  withPackageDigest,
} from '@kervyxa/contract';
import { Sha256HexSchema } from '@kervyxa/core';
import { proveContract } from '@kervyxa/verifier';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { testTree } from '../../packages/sandbox/src/testing/trees.ts';
import { type AttackBench, openAttackBench } from './attack-bench.ts';
import { submitPrograms } from './metric-bench.ts';

let bench: AttackBench;
beforeAll(async () => {
  bench = await openAttackBench();
});
afterEach(() => bench.assertNothingLeft());
afterAll(() => bench.close());

function criterion(id: string, command: string, visibility: 'public' | 'hidden' = 'public') {
  return { id, title: id, type: 'exit_code' as const, visibility, command, timeoutSeconds: 60 };
}

// Counts what Node.js's own runner says of each test, in the process that solver code is never loaded into.
const COUNTING = `
  export default async function* (source) {
    let passed = 0;
    for await (const { type, data } of source) {
      if (type === 'test:fail') passed = -Infinity;
      const isTest = data.nesting > 0 || !/\\.js$/.test(data.name);
      if (type === 'test:pass' && isTest && data.skip === undefined && data.todo === undefined) passed += 1;
    }
    process.exitCode = passed >= 2 ? 0 : 1;
  }
`;
const TESTS = `
  const { test } = require('node:test');
  test('one', () => {});
  test('two', () => {});
`;

it('H04 BUG-2 collects no test, or skips each: node --test says pass; FAIL EXIT_CODE_MISMATCH by the count', async () => {
  const of = (name: string, text: string) => ({
    name,
    parents: ['base'],
    files: { 'test/a.test.js': text },
  });
  const { base = '', ...commits } = await bench.build<string>('tests', [
    { name: 'base', files: { 'test/a.test.js': 'throw new Error("to be written");\n' } },
    of('honest', TESTS),
    of('none', '\n'),
    of('skipped', TESTS.replaceAll("', ()", "', { skip: true }, ()")),
    of('printed', 'console.log("ok 1 - one\\nok 2 - two\\n# pass 2");\n'),
  ]);
  const submit = (commit: string) =>
    bench.attack('tests', base, {
      commit,
      hidden: { 'count.mjs': COUNTING },
      contract: (contract) => {
        contract.constraints.allowedLanguages = ['javascript'];
        contract.criteria = [
          criterion('runs', 'node --test'),
          criterion(
            'counted',
            'node --test --test-reporter="$KERVYXA_VERIFIER_PACKAGE/count.mjs"',
            'hidden',
          ),
        ];
      },
    });
  for (const [name, commit] of Object.entries(commits)) {
    const { said, criteria } = await submit(commit);
    expect([name, said, criteria[0]?.status]).toEqual([
      name,
      name === 'honest' ? 'PASS' : 'FAIL EXIT_CODE_MISMATCH',
      'pass',
    ]);
  }
});

it('BUG-6 leaves a process behind that writes PASS later: dead before a file is read, and gone from the next: FAIL ASSERTION_FAILED', async () => {
  const { base, cheat } = await bench.build('behind', [
    { name: 'base', files: { 'run.sh': 'exit 1\n', 'check.sh': '' } },
    {
      name: 'cheat',
      parents: ['base'],
      files: {
        'run.sh': `for i in 1 2 3; do (setsid nohup sh -c 'while :; do echo PASS > result; done' >/dev/null 2>&1 &); done\n`,
      },
    },
  ]);
  const { said, criteria } = await bench.attack('behind', base, {
    commit: cheat,
    contract: (contract) => {
      contract.criteria = [
        criterion('starts', 'sh run.sh'),
        // A second of looking, in a container that runs beside the first one or after it.
        criterion(
          'elsewhere',
          'for i in 1 2 3 4 5; do test ! -e result || exit 1; sleep 0.2; done',
        ),
        {
          ...criterion('read', 'sh run.sh; rm -f result; exit 0'),
          type: 'file_assertion',
          path: 'result.txt',
          assertion: { op: 'contains', value: 'PASS' },
        },
      ];
    },
  });
  expect(criteria.map(({ id, status }) => `${id} ${status}`)).toEqual([
    'starts pass',
    'elsewhere pass',
    'read fail',
  ]);
  expect(said).toBe('FAIL ASSERTION_FAILED');
});

it('H18 turns back its clocks and says that it needs no memory: the kernel counts, FAIL THRESHOLD_NOT_MET', async () => {
  const program = `
    process.hrtime.bigint = () => 1n;
    process.memoryUsage = () => ({ rss: 1, heapUsed: 1 });
    performance.now = () => 0;
    Date.now = () => 0;
    const kept = Array.from({ length: 100 }, () => Buffer.alloc(1_000_000, 1));
    console.log('KERVYXA_METRIC=1', kept.length > 0 ? '' : kept);
    console.log('KERVYXA_METRIC=1');
  `.replaceAll('\n', ' ');
  const { said, criteria } = await submitPrograms(
    bench,
    { peak: `exec node -e "${program.replaceAll('"', '\\"')}"` },
    {
      contract: (contract) => {
        const [peak] = contract.criteria;
        Object.assign(peak ?? {}, {
          source: 'peak_memory_bytes',
          metric: { name: 'peak', unit: 'bytes', op: 'lt', threshold: 90_000_000, tolerance: 5e6 },
        });
      },
    },
  );
  expect(said).toBe('FAIL THRESHOLD_NOT_MET');
  expect(criteria[0]?.metric).toBeGreaterThan(100_000_000);
});

it('BUG-26 a hidden verifier downloads its tool: proving refuses it as BASE_FAILS_REGRESSION; a tool that is not there, uvx, is INCONCLUSIVE COMMAND_NOT_FOUND', async () => {
  const { base, good } = await bench.build('downloads', [
    { name: 'base', files: { 'hello.sh': 'echo bye\n' } },
    { name: 'good', parents: ['base'], files: { 'hello.sh': 'echo hello\n' } },
  ]);
  const download =
    'npx --yes --fetch-retries=0 --registry=http://127.0.0.1:9 some-linter . && sh hello.sh | grep -q "$1"';
  const hidden = { 'verify.sh': `${download}\n` };
  const change = (contract: ContractInput): void => {
    const command = (word: string) => `sh "$KERVYXA_VERIFIER_PACKAGE/verify.sh" ${word}`;
    contract.criteria = [
      criterion('says-hello', command('hello'), 'hidden'),
      { ...criterion('speaks', command('.'), 'hidden'), type: 'regression' },
    ];
  };
  const document = bench.plainContract(base);
  document.repository.url = bench.server.url('downloads.git');
  change(document);
  const verifierPackage = testTree(hidden);
  const digest = Sha256HexSchema.parse(verifierPackage.digest);
  const downloading = withPackageDigest(ContractSchema.parse(document), digest);
  const report = await proveContract(
    bench.deps,
    {
      contract: downloading,
      contractDigest: contractDigest(downloading),
      verifierPackage,
      dependencies: null,
      replays: 1,
    },
    { signal: new AbortController().signal },
  );
  expect(report.isProved).toBe(false);
  expect(report.findings.map(({ code }) => code)).toContain('BASE_FAILS_REGRESSION');
  const { said } = await bench.attack('downloads', base, {
    commit: good,
    contract: (contract) => {
      contract.criteria = [criterion('lints', 'uvx ruff check .')];
    },
  });
  expect(said).toBe('INCONCLUSIVE COMMAND_NOT_FOUND');
});

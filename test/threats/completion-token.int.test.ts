import { contractDigest, type ContractInput, ContractSchema } from '@kervyxa/contract';
import { provableHelloContract } from '@kervyxa/contract/testing';
import { type Prove, proveContract, type ProvingReport } from '@kervyxa/verifier';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type AttackBench, openAttackBench } from './attack-bench.ts';

/** Loads what it measures into its own process: the usual harness, and the wrong one. */
const PLAIN = `
  const { lines } = require('./work.js');
  console.log('KERVYXA_METRIC=' + lines().length);
`;
/** The same with the token, read before anything of the solver's is loaded: still in one process with it. */
const WITH_TOKEN = `
  const token = require('node:fs').readFileSync(0, 'utf8').trim();
  const { lines } = require('./work.js');
  console.log('KERVYXA_METRIC=' + lines().length);
  console.log('KERVYXA_DONE=' + token);
`;
/** A parent that judges and prints, and has the solver's code run as a child of other rights. */
const WITH_CHILD = `
  const token = require('node:fs').readFileSync(0, 'utf8').trim();
  const code = "console.log(JSON.stringify(require('./work.js').lines()))";
  const { status, stdout } = require('node:child_process').spawnSync(
    process.execPath,
    ['--permission', '--allow-fs-read=' + process.cwd(), '-e', code],
    { stdio: ['ignore', 'pipe', 'ignore'], encoding: 'utf8' },
  );
  const lines = status === 0 ? JSON.parse(stdout) : null;
  if (!Array.isArray(lines) || lines.length < 50) process.exit(1);
  console.log('KERVYXA_METRIC=' + lines.length);
  console.log('KERVYXA_DONE=' + token);
`;
const BASE = 'exports.lines = () => Array.from({ length: 500 }, () => 0);\n';
const HONEST = 'exports.lines = () => Array.from({ length: 50 }, () => 0);\n';
const PRINT = 'KERVYXA_METRIC=1\\n';

const metric = { name: 'lines', unit: 'lines', op: 'lt' as const, threshold: 100 };

function benchmark(
  id: string,
  command: string,
  completion: 'none' | 'token' = 'token',
): ContractInput['criteria'][number] {
  return {
    id,
    title: id,
    type: 'benchmark',
    visibility: 'public',
    command,
    completion,
    metric,
    timeoutSeconds: 20,
  };
}

let bench: AttackBench;
beforeAll(async () => {
  bench = await openAttackBench();
});
afterEach(() => bench.assertNothingLeft());
afterAll(() => bench.close());

/** The solver's work.js, and what the plain harness and the one with the token make of it. */
const WORKS: readonly (readonly [
  ids: string,
  title: string,
  text: string,
  plain: string,
  token: string,
])[] = [
  ['M02', 'does the work', HONEST, 'pass 50', 'pass 50'],
  [
    'M02',
    'prints a metric and leaves',
    `require('node:fs').writeSync(1, '${PRINT}'); process.reallyExit(0);`,
    'pass 1',
    'fail METRIC_MISSING',
  ],
  [
    'M02 BUG-4',
    'prints a metric and mutes the harness',
    `process.stdout.write('${PRINT}'); process.stdout.write = () => true;`,
    'fail EXIT_CODE_MISMATCH',
    'fail EXIT_CODE_MISMATCH',
  ],
  [
    'BUG-4',
    'mutes the harness and makes it end well',
    `process.stdout.write('${PRINT}'); process.stdout.write = () => true;
       exports.lines = () => []; process.on('exit', () => { process.exitCode = 0; });`,
    'pass 1',
    'fail METRIC_MISSING',
  ],
  [
    'H03',
    'leaves without a word',
    'process.exit(0);',
    'fail METRIC_MISSING',
    'fail METRIC_MISSING',
  ],
  [
    'H03',
    'prints a metric and a token of its own',
    `console.log('${PRINT}KERVYXA_DONE=' + crypto.randomUUID()); process.exit(0);`,
    'pass 1',
    'fail METRIC_MISSING',
  ],
  [
    'H03',
    'asks for the token again, which is read already',
    `const rest = require('node:fs').readFileSync(0, 'utf8');
       console.log('${PRINT}KERVYXA_DONE=' + rest.trim()); process.exit(0);`,
    'pass 1',
    'fail METRIC_MISSING',
  ],
  [
    'H03',
    'looks for the token in environment, arguments and files',
    `const { execSync } = require('node:child_process');
       const found = execSync('cat /proc/*/environ /proc/*/cmdline /dev/shm/* /tmp/* 2>/dev/null; true')
         .toString('latin1').match(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/);
       console.log('${PRINT}KERVYXA_DONE=' + found?.[0]); process.exit(0);`,
    'pass 1',
    'fail METRIC_MISSING',
  ],
  [
    'M02',
    'prints a second metric and lets the harness go on',
    `console.log('KERVYXA_METRIC=1'); ${HONEST}`,
    'fail METRIC_DUPLICATED',
    'fail METRIC_DUPLICATED',
  ],
];

// Keeps R-COMPLETION-TOKEN.
describe('a marker benchmark, plain and with a token', () => {
  const ends = new Map<string, string>();

  beforeAll(async () => {
    const names = WORKS.map((_work, index) => `work-${index}`);
    const files = (textOf: (index: number) => string): Record<string, string> =>
      Object.fromEntries(names.map((name, index) => [`${name}/work.js`, textOf(index)]));
    const { base, cheat } = await bench.build('tokens', [
      {
        name: 'base',
        files: { 'plain.js': PLAIN, 'token.js': WITH_TOKEN, ...files(() => BASE) },
      },
      { name: 'cheat', parents: ['base'], files: files((index) => WORKS[index]?.[2] ?? '') },
    ]);
    const { criteria } = await bench.attack('tokens', base, {
      commit: cheat,
      contract: (contract) => {
        contract.constraints.maxChangedFiles = names.length;
        contract.constraints.allowedLanguages = ['javascript'];
        contract.constraints.protectedPaths = ['plain.js', 'token.js'];
        const call = (name: string, harness: string) =>
          `cp ${harness} ${name}/ && cd ${name} && node ${harness}`;
        contract.criteria = names.flatMap((name) => [
          benchmark(`${name}-plain`, call(name, 'plain.js'), 'none'),
          benchmark(`${name}-token`, call(name, 'token.js')),
        ]);
      },
    });
    for (const { id, status, reason, metric: value } of criteria) {
      ends.set(id, `${status} ${reason ?? value ?? ''}`);
    }
  });

  it.each(WORKS.map((work, index) => [work[0], work[1], work[3], work[4], index] as const))(
    '%s %s: %s without a token, %s with one',
    (_ids, _title, plain, token, index) => {
      expect(ends.get(`work-${index}-plain`)).toBe(plain);
      expect(ends.get(`work-${index}-token`)).toBe(token);
    },
  );
});

describe('proving a marker benchmark', () => {
  async function prove(
    name: string,
    harness: string,
    completion: 'none' | 'token',
  ): Promise<ProvingReport> {
    const { base, good, bad } = await bench.build(name, [
      {
        name: 'base',
        files: { 'bench.js': harness, 'runs.js': "require('./work.js');", 'work.js': BASE },
      },
      { name: 'good', parents: ['base'], files: { 'work.js': HONEST } },
      { name: 'bad', parents: ['base'], files: { 'work.js': `${BASE}// as slow as before\n` } },
    ]);
    const input = provableHelloContract(base, { good, bad });
    input.repository.url = bench.server.url(`${name}.git`);
    input.constraints.allowedLanguages = ['javascript'];
    input.constraints.protectedPaths = ['bench.js', 'runs.js'];
    input.criteria = [
      benchmark('lines', 'node bench.js', completion),
      {
        id: 'runs',
        title: 'It runs',
        type: 'regression',
        visibility: 'public',
        command: 'node runs.js',
        timeoutSeconds: 20,
      },
    ];
    input.proof = [
      { commit: good, expected: 'PASS' },
      { commit: bad, expected: 'FAIL', failing: 'lines' },
    ];
    const contract = ContractSchema.parse(input);
    const request: Parameters<Prove>[1] = {
      contract,
      contractDigest: contractDigest(contract),
      verifierPackage: null,
      dependencies: null,
      replays: 2,
    };
    return proveContract(bench.deps, request, { signal: new AbortController().signal });
  }

  const passing = ({ columns }: ProvingReport): string[] =>
    columns.flatMap(({ id, verdict }) => (verdict === 'PASS' ? [id] : []));

  it('M02 BUG-4 a plain harness is refused before anybody can attack it: CHEAT_PASSES', async () => {
    const report = await prove('proved-plain', PLAIN, 'none');
    expect(new Set(report.findings.map(({ code }) => code))).toEqual(new Set(['CHEAT_PASSES']));
    expect(passing(report)).toEqual(['good-1', 'metric-rewritten-1', 'exits-1-2']);
  });

  it('M02 H03 a token in one process with the code can be rewritten around: CHEAT_PASSES', async () => {
    const report = await prove('proved-token', WITH_TOKEN, 'token');
    expect(report.findings.map(({ code }) => code)).toEqual(['CHEAT_PASSES']);
    expect(passing(report)).toEqual(['good-1', 'metric-rewritten-1']);
  });

  it('M02 H03 a parent that measures, prints and ends with the token: proved', async () => {
    const { isProved, findings } = await prove('proved-child', WITH_CHILD, 'token');
    expect({ isProved, findings }).toEqual({ isProved: true, findings: [] });
  });
});

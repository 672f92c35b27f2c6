import type { ContractInput } from '@kervyxa/contract';
import { sha256Hex } from '@kervyxa/core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type AttackBench, openAttackBench } from './attack-bench.ts';

/** Sums the numbers of a file; the work that is counted. */
const HONEST = `
  const numbers = require('node:fs').readFileSync(process.argv[2], 'utf8').trim().split(' ');
  let sum = 0;
  for (const number of numbers) sum += Number(number);
  console.log(sum);
`;
const PREPARED = 'console.log(6);'; // What inputs.txt, which everybody can read, comes to.

const PROGRAMS = {
  honest: HONEST,
  prepared: PREPARED,
  leaves: `console.log('KERVYXA_METRIC=1'); process.reallyExit(0);`,
  silent: 'process.reallyExit(0);',
  'says-a-count': `
    const line = 'KERVYXA_COUNT={"source":"node_block_count","count":1,"exitCode":0}';
    require('node:fs').writeSync(1, line + '\\n6\\n'); process.reallyExit(0);`,
} as const;

let bench: AttackBench;
const ends = new Map<string, string>();

function counted(
  program: string,
  visibility: 'public' | 'hidden',
  { input, answer }: { readonly input: string; readonly answer: string },
): ContractInput['criteria'][number] {
  return {
    id: `${program}-${visibility}`,
    title: program,
    type: 'benchmark',
    visibility,
    command: `node ${program}.js ${input}`,
    source: 'node_block_count',
    stdoutSha256: sha256Hex(`${answer}\n`),
    metric: { name: 'blocks', unit: 'blocks', op: 'lt', threshold: 1_000 },
    timeoutSeconds: 60,
  };
}

beforeAll(async () => {
  bench = await openAttackBench();
  const files = Object.entries(PROGRAMS).map(([name, text]) => [`${name}.js`, text]);
  const { base, cheat } = await bench.build('counted', [
    { name: 'base', files: { 'inputs.txt': '1 2 3\n' } },
    { name: 'cheat', parents: ['base'], files: Object.fromEntries(files) },
  ]);
  const { criteria } = await bench.attack('counted', base, {
    commit: cheat,
    hidden: { 'inputs.txt': '17 23 29\n' },
    contract: (contract) => {
      contract.environment.memoryMB = 512;
      contract.constraints.maxChangedFiles = files.length;
      contract.constraints.allowedLanguages = ['javascript'];
      contract.criteria = Object.keys(PROGRAMS).flatMap((name) => [
        counted(name, 'public', { input: 'inputs.txt', answer: '6' }),
        counted(name, 'hidden', {
          input: '"$KERVYXA_VERIFIER_PACKAGE/inputs.txt"',
          answer: '69',
        }),
      ]);
    },
  });
  for (const { id, status, reason } of criteria) ends.set(id, `${status} ${reason ?? ''}`.trim());
});
afterEach(() => bench.assertNothingLeft());
afterAll(() => bench.close());

describe('work that is counted from outside, with a pinned answer', () => {
  it.each([
    ['M02', 'does the work', 'honest', 'pass', 'pass'],
    [
      'H21',
      'prepares the answer that everybody can work out',
      'prepared',
      'pass',
      'fail ASSERTION_FAILED',
    ],
    [
      'M02',
      'prints a metric and leaves',
      'leaves',
      'fail ASSERTION_FAILED',
      'fail ASSERTION_FAILED',
    ],
    ['H03', 'leaves without a word', 'silent', 'fail ASSERTION_FAILED', 'fail ASSERTION_FAILED'],
    [
      'M02 BUG-4',
      'says the count itself',
      'says-a-count',
      'fail ASSERTION_FAILED',
      'fail ASSERTION_FAILED',
    ],
  ])(
    '%s %s (%s): %s where the input is public, %s where it is hidden',
    (_ids, _title, name, open, hidden) => {
      expect(ends.get(`${name}-public`)).toBe(open);
      expect(ends.get(`${name}-hidden`)).toBe(hidden);
    },
  );
});

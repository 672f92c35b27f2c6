import { contractDigest, ContractSchema, withPackageDigest } from '@kervyxa/contract';
import { provableHelloContract } from '@kervyxa/contract/testing';
import { Sha256HexSchema } from '@kervyxa/core';
import { proveContract, type ProvingReport } from '@kervyxa/verifier';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { testTree } from '../../packages/sandbox/src/testing/trees.ts';
import { type AttackBench, openAttackBench } from './attack-bench.ts';

const PROBE = `
  const { double } = require(process.cwd() + '/work.js');
  console.log(JSON.stringify([17, 23].map(double)));
`;
/** Believes that what it is given is a list. */
const TRUSTING = `
  const { readFileSync } = require('node:fs');
  const given = JSON.parse(readFileSync(process.env.KERVYXA_PROBE_OUTPUT + '/stdout', 'utf8'));
  process.exitCode = given[0] === 34 && given[1] === 46 ? 0 : 1;
`;
/** Catches what is no JSON, and believes that JSON is a list. */
const HALF_WARY = `
  const { readFileSync, statSync } = require('node:fs');
  const file = process.env.KERVYXA_PROBE_OUTPUT + '/stdout';
  if (statSync(file).size > 1000) process.exit(1);
  let given = [];
  try {
    given = JSON.parse(readFileSync(file, 'utf8'));
  } catch {}
  process.exitCode = given[0] === 34 && given[1] === 46 ? 0 : 1;
`;
/** Takes what it can not read for a wrong answer. */
const WARY = `
  const { readFileSync, statSync } = require('node:fs');
  const file = process.env.KERVYXA_PROBE_OUTPUT + '/stdout';
  try {
    if (statSync(file).size > 1000) process.exit(1);
    const given = JSON.parse(readFileSync(file, 'utf8'));
    process.exitCode = given[0] === 34 && given[1] === 46 ? 0 : 1;
  } catch {
    process.exitCode = 1;
  }
`;
/** Only looks for what it knows to be wrong. */
const LENIENT = `
  const { readFileSync } = require('node:fs');
  const given = readFileSync(process.env.KERVYXA_PROBE_OUTPUT + '/stdout', 'utf8');
  process.exitCode = /\\b(17|23)\\b/.test(given) ? 1 : 0;
`;

const CRITERION = {
  id: 'doubles',
  title: 'It doubles',
  type: 'judge_probe' as const,
  visibility: 'hidden' as const,
  probe: { command: 'node "$KERVYXA_PROBE/probe.js"', outputs: [] },
  judge: { command: 'node "$KERVYXA_VERIFIER_PACKAGE/judge.js"' },
  timeoutSeconds: 30,
};

let bench: AttackBench;
let commits: Record<'base' | 'good' | 'bad' | 'mute' | 'garbled', string>;

beforeAll(async () => {
  bench = await openAttackBench();
  const workOf = (text: string) => ({ 'work.js': text });
  commits = await bench.build('broken', [
    { name: 'base', files: workOf('exports.double = (number) => number;\n') },
    {
      name: 'good',
      parents: ['base'],
      files: workOf('exports.double = (number) => 2 * number;\n'),
    },
    { name: 'bad', parents: ['base'], files: workOf('exports.double = (number) => number + 0;\n') },
    { name: 'mute', parents: ['base'], files: workOf('process.exit(0);\n') },
    {
      name: 'garbled',
      parents: ['base'],
      files: workOf(
        "process.stdout.write('['.repeat(30_000)); process.exitCode = 0; exports.double = () => 0;\n",
      ),
    },
  ]);
});
afterEach(() => bench.assertNothingLeft());
afterAll(() => bench.close());

const hiddenOf = (judge: string) => ({ 'judge.js': judge, 'probe/probe.js': PROBE });

async function saidOf(judge: string, commit: string): Promise<string> {
  const { said } = await bench.attack('broken', commits.base, {
    commit,
    hidden: hiddenOf(judge),
    contract: (contract) => {
      contract.constraints.allowedLanguages = ['javascript'];
      contract.criteria = [CRITERION];
    },
  });
  return said;
}

async function prove(judge: string): Promise<ProvingReport> {
  const { base, good, bad } = commits;
  const input = provableHelloContract(base, { good, bad });
  input.repository.url = bench.server.url('broken.git');
  input.constraints.allowedLanguages = ['javascript'];
  input.criteria = [CRITERION];
  input.proof = [
    { commit: good, expected: 'PASS' },
    { commit: bad, expected: 'FAIL', failing: 'doubles' },
  ];
  const verifierPackage = testTree(hiddenOf(judge));
  const digest = Sha256HexSchema.parse(verifierPackage.digest);
  const contract = withPackageDigest(ContractSchema.parse(input), digest);
  return proveContract(
    bench.deps,
    {
      contract,
      contractDigest: contractDigest(contract),
      verifierPackage,
      dependencies: null,
      replays: 2,
    },
    { signal: new AbortController().signal },
  );
}

// Keeps R-JUDGE-PROBE.
describe('a judge that output can break', () => {
  it.each([
    ['leaves nothing', 'mute'],
    ['leaves what is no answer', 'garbled'],
  ] as const)('H24 %s: INCONCLUSIVE VERIFIER_BROKEN, never FAIL', async (_title, name) => {
    expect(await saidOf(TRUSTING, commits[name])).toBe('INCONCLUSIVE VERIFIER_BROKEN');
  });

  it.each([
    ['leaves nothing', 'mute'],
    ['leaves what is no answer', 'garbled'],
  ] as const)('H24 H01 %s for a wary judge: FAIL REFUTED', async (_title, name) => {
    expect(await saidOf(WARY, commits[name])).toBe('FAIL REFUTED');
  });

  it.each([
    ['', TRUSTING],
    [' that only null breaks', HALF_WARY],
  ])('H24 a contract with such a judge%s does not open: CONTRACT_BROKEN', async (_which, judge) => {
    const { isProved, findings } = await prove(judge);
    expect(isProved).toBe(false);
    expect(new Set(findings.map(({ code }) => code))).toEqual(new Set(['CONTRACT_BROKEN']));
    expect(findings.map(({ pointer }) => pointer)).toContain('/criteria/0/judge/command');
  });

  it('H03 a contract whose judge only looks for faults does not open: CHEAT_PASSES', async () => {
    const { isProved, findings } = await prove(LENIENT);
    expect(isProved).toBe(false);
    expect(new Set(findings.map(({ code }) => code))).toEqual(new Set(['CHEAT_PASSES']));
  });

  it('H24 a contract with a wary judge opens', async () => {
    expect(await prove(WARY)).toMatchObject({ isProved: true, findings: [] });
  });
});

import { contractDigest } from '@kervyxa/contract';
import { systemClock } from '@kervyxa/core';
import { createFakeIntake, fakeCommitId } from '@kervyxa/intake/fake';
import { createFakeSandbox, type FakeCommand } from '@kervyxa/sandbox/fake';
import { describe, expect, it } from 'vitest';
import type { CriterionResult } from './result.ts';
import { contractWith, criterion } from './testing/contract.ts';
import { verifyCommit, type VerifierDeps } from './verify-commit.ts';

const [base, head] = [fakeCommitId('base'), fakeCommitId('head')];

async function resultOf(
  command: FakeCommand,
  deps: Pick<VerifierDeps, 'createToken'> = {},
): Promise<CriterionResult | undefined> {
  const contract = contractWith({
    repository: { url: 'https://git.kervyxa.example/base.git', baseCommit: base },
    criteria: [
      criterion('bench', {
        type: 'benchmark',
        completion: 'token',
        metric: { name: 'lines', unit: 'lines', op: 'lt', threshold: 5 },
      }),
    ],
  });
  const { criteria } = await verifyCommit(
    {
      intake: createFakeIntake({
        commits: {
          [base]: { tree: { 'a.js': 'base' } },
          [head]: { tree: { 'a.js': 'head' }, parents: [base] },
        },
      }),
      sandbox: createFakeSandbox({ commands: { bench: command } }),
      clock: systemClock,
      runtimes: new Map([['kervyxa-runtime/node:22', `sha256:${'1'.repeat(64)}`]]),
      coreCount: 1,
      ...deps,
    },
    {
      contract,
      contractDigest: contractDigest(contract),
      repositoryUrl: 'https://git.kervyxa.example/solver.git',
      commit: head,
      verifierPackage: null,
    },
    { signal: new AbortController().signal },
  );
  return criteria[0];
}

// Keeps R-COMPLETION-TOKEN.
describe('a benchmark that asks for a completion token', () => {
  const printing =
    (text: (token: string) => string): FakeCommand =>
    ({ stdin }) => ({ stdout: text(stdin.trimEnd()) });

  it('counts the metric of a harness that shows it last', async () => {
    const command = printing((token) => `KERVYXA_METRIC=3\nKERVYXA_DONE=${token}\n`);
    expect(await resultOf(command)).toMatchObject({ status: 'pass', metric: 3 });
  });

  it.each<[string, (token: string) => string]>([
    ['shows none', () => 'KERVYXA_METRIC=3\n'],
    ['shows another', () => 'KERVYXA_METRIC=3\nKERVYXA_DONE=guess\n'],
    ['prints on after it', (token) => `KERVYXA_METRIC=3\nKERVYXA_DONE=${token}\nbye\n`],
    ['prints an empty line after it', (token) => `KERVYXA_METRIC=3\nKERVYXA_DONE=${token}\n\n`],
    ['has more on the line', (token) => `KERVYXA_METRIC=3\nx KERVYXA_DONE=${token}\n`],
    ['shows it without a metric', (token) => `KERVYXA_DONE=${token}\n`],
    ['prints nothing', () => ''],
  ])('refuses one that %s: METRIC_MISSING', async (_title, text) => {
    expect(await resultOf(printing(text))).toMatchObject({
      status: 'fail',
      reason: 'METRIC_MISSING',
      metric: null,
    });
  });

  it('prints a second metric beside the token: METRIC_DUPLICATED', async () => {
    const command = printing(
      (token) => `KERVYXA_METRIC=1\nKERVYXA_METRIC=9\nKERVYXA_DONE=${token}\n`,
    );
    expect(await resultOf(command)).toMatchObject({ reason: 'METRIC_DUPLICATED' });
  });

  it('shows the token and leaves with another status: EXIT_CODE_MISMATCH', async () => {
    const command: FakeCommand = ({ stdin }) => ({
      stdout: `KERVYXA_METRIC=3\nKERVYXA_DONE=${stdin}`,
      exitCode: 1,
    });
    expect(await resultOf(command)).toMatchObject({ reason: 'EXIT_CODE_MISMATCH' });
  });

  it('replays the token of another run: METRIC_MISSING', async () => {
    const tokens: string[] = [];
    const command: FakeCommand = ({ stdin }) => {
      tokens.push(stdin.trimEnd());
      return { stdout: `KERVYXA_METRIC=3\nKERVYXA_DONE=${tokens[0]}\n` };
    };
    expect(await resultOf(command)).toMatchObject({ status: 'pass' });
    expect(await resultOf(command)).toMatchObject({ reason: 'METRIC_MISSING' });
    expect(tokens[0]).toMatch(/^[\x21-\x7e]{32,}$/);
    expect(tokens[1]).not.toBe(tokens[0]);
  });

  it('takes chance from the caller', async () => {
    const command = printing(() => 'KERVYXA_METRIC=3\nKERVYXA_DONE=known\n');
    expect(await resultOf(command, { createToken: () => 'known' })).toMatchObject({
      status: 'pass',
    });
  });
});

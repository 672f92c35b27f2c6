import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { isolatedGitEnvironment } from '../../packages/testing/src/git-environment.ts';
import { openAttackBench, type AttackBench } from './attack-bench.ts';

let bench: AttackBench;
beforeAll(async () => {
  bench = await openAttackBench();
});
afterEach(() => bench.assertNothingLeft());
afterAll(() => bench.close());

const CHECK = { 'check.sh': 'sh hello.sh | grep -qx hello\n', 'hello.sh': 'exit 1\n' };
const DONE = { 'hello.sh': 'echo hello\n' };
const trailer = (token: string): string => `Say hello\n\nKervyxa-Claim: ${token}\n`;

async function git(repository: string, ...args: string[]): Promise<void> {
  const folder = join(bench.served, `${repository}.git`);
  await promisify(execFile)('git', [`--git-dir=${folder}`, ...args], {
    env: isolatedGitEnvironment,
  });
}

it('S19 hands in a rival’s commit, or a copy with a trailer that is not its own: FAIL CLAIM_MISSING', async () => {
  const commits = await bench.build('claims', [
    { name: 'base', files: CHECK },
    { name: 'rival', parents: ['base'], files: DONE, message: trailer('clm_rival') },
    { name: 'bare', parents: ['base'], files: DONE },
    {
      name: 'inside',
      parents: ['base'],
      files: DONE,
      message: 'Kervyxa-Claim: clm_copycat\n\nSay hello\n',
    },
    { name: 'longer', parents: ['base'], files: DONE, message: trailer('clm_copycat2') },
    { name: 'upper', parents: ['base'], files: DONE, message: trailer('CLM_COPYCAT') },
    { name: 'own', parents: ['base'], files: DONE, message: trailer('clm_copycat') },
  ]);
  const said: Record<string, string> = {};
  for (const name of ['rival', 'bare', 'inside', 'longer', 'upper', 'own'] as const) {
    const end = await bench.attack('claims', commits.base, {
      commit: commits[name],
      claimToken: 'clm_copycat',
      contract: (contract) => {
        contract.submission.claim = 'trailer';
      },
    });
    said[name] = end.said;
  }
  expect(said).toEqual({
    rival: 'FAIL CLAIM_MISSING',
    bare: 'FAIL CLAIM_MISSING',
    inside: 'FAIL CLAIM_MISSING',
    longer: 'FAIL CLAIM_MISSING',
    upper: 'FAIL CLAIM_MISSING',
    own: 'PASS',
  });
});

it('BUG-46 hands in a commit of a fork under its parent’s URL, no ref of which reaches it: judged as it is, PASS and FAIL', async () => {
  const { base, good, bad } = await bench.build('parent', [
    { name: 'base', files: CHECK },
    { name: 'good', parents: ['base'], files: DONE },
    { name: 'bad', parents: ['base'], files: { 'check.sh': 'exit 0\n' } },
  ]);
  // What a host does that keeps a fork's objects with its parent's: they are there, and no ref leads to them.
  for (const name of ['good', 'bad']) await git('parent', 'update-ref', '-d', `refs/heads/${name}`);
  const ends = [];
  for (const commit of [good, bad]) {
    const { said, result } = await bench.attack('parent', base, { commit });
    expect(result.commit).toBe(commit);
    ends.push(said);
  }
  expect(ends).toEqual(['PASS', 'FAIL PROTECTED_PATH_CHANGED']);
});

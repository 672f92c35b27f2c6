import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { VerificationResultSchema } from '@kervyxa/verifier';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openHelloBench, type HelloBench } from '../testing/hello-bench.ts';
import { CHECKER_FOLDER, withChecker } from '../testing/sample-contract.ts';

let bench: HelloBench;
beforeAll(async () => {
  bench = await openHelloBench();
});
afterEach(() => bench.assertNothingLeft());
afterAll(() => bench.close());

describe('kervyxa verify', () => {
  it('exits with 0 for an honest commit, with the result on stdout and a line a step on stderr', async () => {
    const end = await bench.verify('good');
    // What it said tells why, where it did not pass.
    expect(end.exitCode === 0 ? '' : end.stderr).toBe('');
    expect(end).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^PASS {2}1 of 1 /) });
    expect(end.stderr).toMatch(/^pass +\d+\.\d s {2}says-hello: The script says hello$/m);
    expect(bench.proxy.created.size).toBeGreaterThan(0);
  });

  it('exits with 1 and names the primary reason for a commit that does not hold', async () => {
    const end = await bench.verify('bad');
    expect(end).toMatchObject({ exitCode: 1, stdout: expect.stringMatching(/^FAIL {2}0 of 1 /) });
    expect(end.stdout).toContain('EXIT_CODE_MISMATCH  says-hello');
  });

  it('refuses a changed protected file by its path, before anything runs', async () => {
    const before = bench.proxy.created.size;
    const end = await bench.verify('cheat');
    expect(end).toMatchObject({
      exitCode: 1,
      stdout: expect.stringContaining('PROTECTED_PATH_CHANGED  check.sh'),
    });
    expect(bench.proxy.created.size).toBe(before);
  });

  it('prints exactly the result with --json, and keeps the same in the evidence folder', async () => {
    const folder = join(bench.root, 'evidence');
    const end = await bench.verify('good', '--json', '--evidence', folder);
    expect(end.exitCode).toBe(0);
    const result = VerificationResultSchema.parse(JSON.parse(end.stdout));
    expect(result).toMatchObject({
      verdict: 'PASS',
      commit: bench.shas.good,
      tree: bench.objectId('good', '^{tree}'),
      changedFiles: [{ path: 'hello.sh', status: 'modified' }],
    });
    expect(JSON.parse(readFileSync(join(folder, 'result.json'), 'utf8'))).toEqual(result);
  });

  it('asks the checker package that is given about a file of the commit', async () => {
    const contract = bench.writeContract((document) => {
      document.criteria = withChecker(null).criteria;
    });
    const asked = ['--contract', contract, '--checker', CHECKER_FOLDER] as const;
    const end = await bench.verify('good', '--json', ...asked);
    expect(end.exitCode).toBe(1);
    const { criteria, inputs } = VerificationResultSchema.parse(JSON.parse(end.stdout));
    // A script is no JSON document.
    expect(criteria).toMatchObject([{ status: 'pass' }, { type: 'checker', reason: 'REFUTED' }]);
    expect(inputs?.checkout).toMatch(/^[0-9a-f]{64}$/);
  });

  it('keeps what a criterion printed in its logs', async () => {
    const folder = join(bench.root, 'evidence-logs');
    const contract = bench.writeContract(({ criteria }) => {
      Object.assign(criteria[0] ?? {}, { command: 'echo out; echo err >&2; sh check.sh' });
    });
    await bench.verify('good', '--contract', contract, '--evidence', folder);
    const logs = readdirSync(join(folder, 'criteria')).map((name) => [
      name,
      readFileSync(join(folder, 'criteria', name), 'utf8'),
    ]);
    expect(Object.fromEntries(logs)).toEqual({
      'says-hello.stderr.log': 'err\n',
      'says-hello.stdout.log': 'out\n',
    });
  });
});

// Keeps R-CLI-STOP.
describe('a stopped kervyxa verify', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('removes its containers and volumes on %s and exits with %i', async (name, code) => {
    const started = bench.proxy.carries('started');
    const process = bench.startVerify('slow');
    await started;
    process.kill(name);
    const end = await process.ended;
    expect(end).toMatchObject({ exitCode: code, stdout: '' });
    expect(end.stderr).toMatch(new RegExp(`^${name}: removing this run's containers`, 'm'));
    expect(end.stderr).toMatch(/^stopped$/m);
  });

  it('leaves at once on a second signal, and the next run removes what was left', async () => {
    const started = bench.proxy.carries('started');
    const process = bench.startVerify('slow');
    await started;
    process.kill('SIGINT');
    await process.says('removing this run');
    process.kill('SIGINT');
    expect(await process.ended).toMatchObject({ exitCode: 130 });
    expect(await bench.verify('good')).toMatchObject({ exitCode: 0 });
  });
});

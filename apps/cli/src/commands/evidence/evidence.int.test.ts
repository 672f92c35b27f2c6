import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '@kervyxa/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSigningKeys } from '../../io/signing-key.ts';
import { openHelloBench, type HelloBench } from '../../testing/hello-bench.ts';
import { CHECKER_FOLDER, withChecker } from '../../testing/sample-contract.ts';
import { writeEvidence } from '../../testing/sample-evidence.ts';

let bench: HelloBench;
let key = '';
const folders: Record<string, string> = {};

/** Verifies with evidence; answers the verdict. */
async function leave(name: string, commit: string, ...more: string[]): Promise<string> {
  const folder = join(bench.root, name);
  folders[name] = join(folder, 'evidence.tar');
  const end = await bench.verify(commit, '--evidence', folder, ...more);
  expect(end.stderr).not.toContain('error');
  return end.stdout.split(' ', 1)[0] ?? '';
}

beforeAll(async () => {
  bench = await openHelloBench();
});
afterAll(() => bench.close());

// Keeps R-EVIDENCE-REPLAY.
describe('evidence', () => {
  it('is left of a pass, of a fail with packages, and of a commit that is not there', async () => {
    const hidden = join(bench.root, 'hidden');
    mkdirSync(hidden);
    writeFileSync(join(hidden, 'expected'), 'hello\n');
    const contract = bench.writeContract((given) => {
      const { criteria } = withChecker(null);
      const secret = {
        ...criteria[0],
        id: 'secret',
        visibility: 'hidden',
        command: 'sh hello.sh && cmp greeting "$KERVYXA_VERIFIER_PACKAGE/expected"',
      };
      Object.assign(given, { criteria: [...criteria, secret] });
      given.submission.privacy = 'PUBLIC_WITH_HIDDEN_VERIFIER';
    });
    const inputs = ['--contract', contract, '--package', hidden, '--checker', CHECKER_FOLDER];
    expect(await leave('pass', 'good')).toBe('PASS');
    expect(await leave('packages', 'good', ...inputs)).toBe('FAIL');
    expect(await leave('nothing', 'd'.repeat(40))).toBe('INCONCLUSIVE');
    await bench.server.close();
    const shown = await bench.run(['keys', 'show', '--json']);
    key = join(bench.root, 'keys.json');
    writeFileSync(key, shown.stdout);
  });

  it('is verified for its commit, and refused for another one, with one line and exit code 1', async () => {
    const file = folders['pass'] ?? '';
    const good = ['evidence', 'verify', file, '--key', key, '--subject', bench.shas.good];
    expect(await bench.run(good)).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^good {2}PASS\n/),
    });
    const other = await bench.run([...good.slice(0, -1), bench.shas.bad]);
    expect(other).toMatchObject({ exitCode: 1, stdout: '' });
    expect(other.stderr).toMatch(/^error EVIDENCE_SUBJECT_MISMATCH: [^\n]*\nfix: [^\n]*\n$/);
  });

  it.each([
    ['pass', 0, 'same', 'PASS'],
    ['packages', 0, 'same', 'FAIL'],
    ['nothing', 3, 'impossible', null],
  ] as const)(
    'of %s is run again where there is no server, no home and no state: exit code %i, %s',
    async (name, exitCode, outcome, got) => {
      const home = join(bench.root, 'elsewhere');
      mkdirSync(home, { recursive: true });
      const end = await bench.run(
        ['evidence', 'replay', folders[name] ?? '', '--key', key, '--json'],
        { HOME: home, KERVYXA_HOME: join(home, 'state'), KERVYXA_GIT_ALLOW: '' },
      );
      expect(end.exitCode === exitCode ? '' : end.stderr).toBe('');
      expect(JSON.parse(end.stdout)).toMatchObject({
        outcome,
        verdict: { got },
        differences: [],
        skipped: [],
        isOriginChecked: true,
      });
    },
  );

  it('E11 whose captures are none of its commit is refused, and leaves no folder behind', async () => {
    const temporary = join(bench.root, 'temporary');
    mkdirSync(temporary);
    const keys = openSigningKeys(join(bench.root, 'forger'), systemClock);
    const { bundle } = await writeEvidence(bench.root, keys, { view: 'full' });
    const end = await bench.run(['evidence', 'replay', bundle], { TMPDIR: temporary });
    expect(end).toMatchObject({ exitCode: 1, stdout: '' });
    expect(end.stderr).toContain('error EVIDENCE_BUNDLE_REFUSED: expected the whole capture of ');
    expect(readdirSync(temporary)).toEqual([]);
  });
});

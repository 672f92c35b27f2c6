import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../../cli.ts';
import { fakeHost } from '../../testing/fake-host.ts';

// Keeps R-CLI-CODES, R-CHECKER-LINT.

let root = '';
let folder = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'kervyxa-checker-'));
  folder = join(root, 'report');
});
afterEach(() => rmSync(root, { recursive: true }));

async function run(...argv: string[]) {
  const host = fakeHost();
  const exitCode = await runCli(['checker', ...argv], host);
  return { exitCode, stdout: host.stdout.text(), stderr: host.stderr.text() };
}

describe('kervyxa checker init', () => {
  it.each([
    ['a package', []],
    ['a campaign', ['--campaign']],
  ])('writes %s that lint has nothing against, and says what is next', async (_what, options) => {
    const { exitCode, stdout } = await run('init', ...options, folder);
    expect(exitCode).toBe(0);
    expect(stdout).toContain(`kervyxa checker lint ${folder} --fix`);
    const lint = await run('lint', folder);
    expect(lint).toMatchObject({ exitCode: 0, stderr: '' });
    expect(lint.stdout).toMatch(/^clean {2}.*: no findings\nsha256 [0-9a-f]{64}\n$/);
  });

  it.each([
    [
      'a folder that holds something',
      () => void writeFileSync(join(root, 'mine'), 'x'),
      () => root,
    ],
    ['a file', () => void writeFileSync(folder, 'x'), () => folder],
    ['a link to a folder', () => void symlinkSync(tmpdir(), folder), () => `${folder}/`],
  ])('writes nothing over %s', async (_what, prepare, target) => {
    prepare();
    const before = readdirSync(root);
    const { exitCode, stdout, stderr } = await run('init', target());
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toMatch(/^error CLI_FOLDER_REFUSED: .*\nfix: .*\n$/);
    expect(readdirSync(root)).toEqual(before);
  });

  it('makes the folders above, and says where it can not write', async () => {
    expect((await run('init', join(root, 'a/b/c'))).exitCode).toBe(0);
    const { exitCode, stderr } = await run('init', '/proc/kervyxa/checker');
    expect(exitCode).toBe(4);
    expect(stderr).toMatch(/^error CLI_FOLDER_UNWRITABLE: /);
  });
});

describe('kervyxa checker lint', () => {
  beforeEach(async () => void (await run('init', folder)));

  it('tells file, pointer, code and fix of each finding, and ends with 1', async () => {
    writeFileSync(join(folder, 'fixtures/adds-up.json'), '{"items": [], "total": 0}\n');
    const { exitCode, stdout } = await run('lint', folder);
    expect(exitCode).toBe(1);
    expect(stdout).toContain(`verifier-contract.json
  /conformance_fixtures/0/inputs/artifacts/0/size_bytes
  [fixture_size_wrong] refuse
  expected 26, the bytes of adds-up.json, got 33
  fix: Run "kervyxa checker lint DIR --fix", which writes hashes and sizes.
`);
    expect(stdout).toMatch(/refused {2}.*: 2 refused\n/);
  });

  it('ends with 0 for advice', async () => {
    writeFileSync(join(folder, 'notes.txt'), 'later');
    const { exitCode, stdout } = await run('lint', folder);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('notes.txt\n  [file_unknown] advise\n');
    expect(stdout).toMatch(/clean {2}.*: 1 advised\n/);
  });

  it('writes hashes and sizes with --fix, says so, and leaves mode and other files alone', async () => {
    const contract = join(folder, 'verifier-contract.json');
    chmodSync(contract, 0o640);
    const before = readFileSync(contract, 'utf8');
    writeFileSync(join(folder, 'fixtures/adds-up.json'), '{"items": [], "total": 0}\n');
    const { exitCode, stdout } = await run('lint', folder, '--fix');
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^verifier-contract\.json: wrote 2 hashes and sizes\n\nclean/);
    const changed = readFileSync(contract, 'utf8').split('\n');
    const lines = before.split('\n').flatMap((line, at) => (line === changed[at] ? [] : [at]));
    expect(lines).toHaveLength(2);
    expect(statSync(contract).mode & 0o777).toBe(0o640);
    expect(readdirSync(folder).toSorted()).toEqual([
      'checker.py',
      'fixtures',
      'verifier-contract.json',
    ]);
    expect((await run('lint', folder, '--fix')).stdout).not.toContain('wrote');
  });

  it('tells programs the same', async () => {
    writeFileSync(join(folder, 'fixtures/adds-up.json'), '{"items": [], "total": 0}\n');
    const { exitCode, stdout } = await run('lint', folder, '--json', '--fix');
    expect(exitCode).toBe(0);
    const at = '/conformance_fixtures/0/inputs/artifacts/0';
    expect(JSON.parse(stdout)).toEqual({
      clean: true,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      findings: [],
      written: [
        { file: 'verifier-contract.json', pointers: [`${at}/content_hash`, `${at}/size_bytes`] },
      ],
    });
  });

  it('links to a file outside: the folder is refused before anything of it is read', async () => {
    symlinkSync('/etc/passwd', join(folder, 'fixtures/more.json'));
    const { exitCode, stderr } = await run('lint', folder, '--fix');
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^error INTAKE_PACKAGE_ENTRY_REFUSED: /);
  });

  it('ends with 2 where there is no folder', async () => {
    expect((await run('lint', join(root, 'nowhere'))).exitCode).toBe(2);
  });
});

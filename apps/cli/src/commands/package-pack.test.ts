import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../cli.ts';
import { fakeHost } from '../testing/fake-host.ts';

// Keeps R-CLI-CODES.

let root = '';
let folder = '';
let out = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'kervyxa-package-pack-'));
  folder = join(root, 'hidden');
  out = join(root, 'hidden.tar');
  mkdirSync(join(folder, 'answers'), { recursive: true });
  writeFileSync(join(folder, 'check.sh'), '#!/bin/sh\n');
  writeFileSync(join(folder, 'answers/1.txt'), 'one');
});
afterEach(() => rmSync(root, { recursive: true }));

async function run(...argv: string[]) {
  const host = fakeHost();
  const exitCode = await runCli(['package', 'pack', ...argv], host);
  return { exitCode, stdout: host.stdout.text(), stderr: host.stderr.text() };
}

describe('kervyxa package pack', () => {
  it('tells the digest of the archive that it writes', async () => {
    const { exitCode, stdout } = await run(folder, '-o', out);
    const sha256 = createHash('sha256').update(readFileSync(out)).digest('hex');
    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: `${out}: 3 entries, 13 bytes
sha256 ${sha256}

In the contract:
  "verifierPackage": { "sha256": "${sha256}" }
`,
    });
    const told = JSON.parse((await run(folder, '--json')).stdout);
    expect(told).toEqual({ file: null, entryCount: 3, bytesTotal: 13, sha256 });
    expect(readdirSync(root).toSorted()).toEqual(['hidden', 'hidden.tar']);
  });

  it('links to a file outside: refused, and nothing is written', async () => {
    symlinkSync('/etc/passwd', join(folder, 'answers/2.txt'));
    const { exitCode, stdout, stderr } = await run(folder, '-o', out);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toMatch(/^error INTAKE_PACKAGE_ENTRY_REFUSED: .*answers\/2\.txt/);
    expect(readdirSync(root)).toEqual(['hidden']);
  });

  it('has no folder to read, or no place to write to', async () => {
    const nowhere = await run(join(root, 'nowhere'));
    expect(nowhere.exitCode).toBe(2);
    expect(nowhere.stderr).toMatch(/^error INTAKE_PACKAGE_UNREADABLE: /);
    for (const [place, got] of [
      ['no/hidden.tar', 'no such folder'],
      ['hidden/check.sh/hidden.tar', 'a place in the folder that is packed'],
      ['', 'a folder'],
    ] as const) {
      const { exitCode, stderr } = await run(folder, '-o', join(root, place));
      expect(exitCode).toBe(2);
      expect(stderr).toMatch(new RegExp(`^error CLI_OUTPUT_REFUSED: .*, got ${got}`));
    }
  });

  it('packs an empty folder, and warns of it', async () => {
    const empty = join(root, 'empty');
    mkdirSync(empty);
    const { exitCode, stderr } = await run(empty);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 0,
      stderr: `warning: ${empty} is empty, and so is the package\n`,
    });
  });

  it('is to write into the folder that it packs, so that the next digest would be another', async () => {
    const { exitCode, stderr } = await run(folder, '-o', join(folder, 'answers/hidden.tar'));
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^error CLI_OUTPUT_REFUSED: .*in the folder that is packed/);
    expect(readdirSync(join(folder, 'answers'))).toEqual(['1.txt']);
    const beside = await run(folder, '-o', `${folder}.tar`);
    expect(beside.exitCode).toBe(0);
  });
});

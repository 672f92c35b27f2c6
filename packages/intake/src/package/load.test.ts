import { chmod, mkdir, mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadVerifierPackage } from './index.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kervyxa-package-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

async function fill(root: string): Promise<void> {
  await mkdir(join(root, 'answers/none'), { recursive: true });
  await writeFile(join(root, 'check.sh'), '#!/bin/sh\n');
  await chmod(join(root, 'check.sh'), 0o700);
  await writeFile(join(root, 'answers/1.txt'), 'one');
}

describe('loadVerifierPackage', () => {
  it('names the bytes that it hands out', async () => {
    await fill(folder);
    const { archive, sha256 } = await loadVerifierPackage(folder);
    const hash = createHash('sha256');
    for await (const piece of archive.open(new AbortController().signal)) hash.update(piece);
    expect(hash.digest('hex')).toBe(sha256);
    expect(archive).toMatchObject({ entryCount: 4, bytesTotal: 13, digest: sha256 });
  });

  it('gives equal folders equal digests, whatever their times, umask and order of creation', async () => {
    const other = join(folder, 'b');
    await fill(join(folder, 'a'));
    await mkdir(other);
    await writeFile(join(other, 'check.sh'), '#!/bin/sh\n');
    await chmod(join(other, 'check.sh'), 0o755);
    await mkdir(join(other, 'answers/none'), { recursive: true });
    await writeFile(join(other, 'answers/1.txt'), 'one', { mode: 0o600 });
    await utimes(join(other, 'answers/1.txt'), 1, 1);
    const digests = [
      await loadVerifierPackage(join(folder, 'a')),
      await loadVerifierPackage(other),
    ].map(({ sha256 }) => sha256);
    expect(digests[0]).toBe(digests[1]);
    await writeFile(join(other, 'answers/1.txt'), 'two');
    expect((await loadVerifierPackage(other)).sha256).not.toBe(digests[0]);
  });

  it('H25 links to /etc/passwd: a link is refused, not followed', async () => {
    await symlink('/etc/passwd', join(folder, 'answers'));
    await expect(loadVerifierPackage(folder)).rejects.toMatchObject({
      code: 'INTAKE_PACKAGE_ENTRY_REFUSED',
      message: expect.stringContaining('answers is a symbolic link'),
    });
  });

  it('waits at a socket for ever: a special file is refused', async () => {
    const server = createServer();
    await new Promise<void>((listening) => server.listen(join(folder, 'socket'), listening));
    try {
      await expect(loadVerifierPackage(folder)).rejects.toMatchObject({
        code: 'INTAKE_PACKAGE_ENTRY_REFUSED',
      });
    } finally {
      await new Promise((closed) => server.close(closed));
    }
  });

  it('refuses a name that another system would read differently', async () => {
    await writeFile(join(folder, 'a\\b'), '');
    await expect(loadVerifierPackage(folder)).rejects.toMatchObject({
      code: 'INTAKE_PACKAGE_ENTRY_REFUSED',
    });
  });

  it('stops at the caps on entries and on bytes', async () => {
    await fill(folder);
    const roomy = { entriesMax: 4, bytesMax: 13 };
    expect((await loadVerifierPackage(folder, roomy)).archive.entryCount).toBe(4);
    for (const limits of [
      { ...roomy, entriesMax: 3 },
      { ...roomy, bytesMax: 12 },
    ]) {
      await expect(loadVerifierPackage(folder, limits)).rejects.toMatchObject({
        code: 'INTAKE_PACKAGE_TOO_LARGE',
      });
    }
  });

  it('says so when there is no such folder', async () => {
    await expect(loadVerifierPackage(join(folder, 'nowhere'))).rejects.toMatchObject({
      code: 'INTAKE_PACKAGE_UNREADABLE',
      message: expect.stringContaining('nothing is there'),
    });
  });
});

import { execFile } from 'node:child_process';
import { appendFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { BUNDLE_LIMITS, type TreeArchive } from '@kervyxa/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadVerifierPackage, openBundle } from './index.ts';

const { signal } = new AbortController();
let root: string;
let folder: string;
let file: string;

/** A folder, and beside it the archive of its content as packing writes it. */
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'kervyxa-bundle-'));
  folder = join(root, 'bundle');
  file = join(root, 'bundle.tar');
  await mkdir(join(folder, 'home/cache'), { recursive: true });
  await writeFile(join(folder, 'npmrc'), 'offline=true\n');
  await writeFile(join(folder, 'home/cache/left-pad'), 'x'.repeat(100_000));
  await writeFile(join(folder, `${'n'.repeat(120)}é`), 'a long name');
  await writeFile(file, await bytesOf((await loadVerifierPackage(folder)).archive));
});

afterEach(async () => {
  await rm(root, { recursive: true });
});

async function bytesOf(archive: TreeArchive): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(archive.open(signal)));
}

// Keeps R-BAD-INPUT.
describe('openBundle', () => {
  it('gives a folder and the archive of it one digest, which is that of the packed bytes', async () => {
    const { archive: packed } = await loadVerifierPackage(folder);
    for (const path of [file, folder]) {
      const opened = await openBundle(path);
      const { digest, entryCount, bytesTotal } = packed;
      expect(opened).toMatchObject({ digest, entryCount, bytesTotal });
      expect((await bytesOf(opened)).equals(await bytesOf(packed))).toBe(true);
    }
  });

  it('is changed between its digest and its use: never passed on as if it were the same', async () => {
    const [asFile, asFolder] = [await openBundle(file), await openBundle(folder)];
    await appendFile(file, Buffer.alloc(512));
    await writeFile(join(folder, 'npmrc'), 'offline=false');
    for (const archive of [asFile, asFolder]) {
      await expect(bytesOf(archive)).rejects.toMatchObject({ code: 'INTAKE_PACKAGE_UNREADABLE' });
    }
  });

  it.each([
    ['that is not there', async () => rm(file)],
    [
      'that is a pipe',
      async () => {
        await rm(file);
        await promisify(execFile)('mkfifo', [file]);
      },
    ],
    [
      'that can be opened and not be read',
      async () => {
        await rm(file);
        await symlink('/proc/self/mem', file);
      },
    ],
  ])('refuses a file %s', async (_title, spoil) => {
    await spoil();
    await expect(openBundle(file)).rejects.toMatchObject({ code: 'INTAKE_PACKAGE_UNREADABLE' });
  });

  it.each([
    ['words', async () => writeFile(file, 'lodash@4\n'.repeat(200))],
    ['a part of an archive', async () => writeFile(file, (await readWhole()).subarray(0, 9_000))],
    ['a compressed archive', async () => writeFile(file, gzipSync(await readWhole()))],
    [
      'an archive that the system’s tar made of the folder',
      async () => promisify(execFile)('tar', ['-cf', file, '-C', folder, 'home', 'npmrc']),
    ],
    ['bytes after the end', async () => appendFile(file, Buffer.alloc(512, 1))],
  ])('refuses %s', async (_title, spoil) => {
    await spoil();
    await expect(openBundle(file)).rejects.toMatchObject({ code: 'INTAKE_PACKAGE_NOT_CANONICAL' });
  });

  it('links to a file of the host: a link in a folder is refused, not followed', async () => {
    await symlink('/etc/passwd', join(folder, 'pip.conf'));
    await expect(openBundle(folder)).rejects.toMatchObject({
      code: 'INTAKE_PACKAGE_ENTRY_REFUSED',
    });
  });

  it('stops at the caps on entries and on bytes', async () => {
    const { entryCount, bytesTotal } = await openBundle(file);
    for (const path of [file, folder]) {
      await openBundle(path, { entriesMax: entryCount, bytesMax: bytesTotal });
      for (const limits of [
        { ...BUNDLE_LIMITS, entriesMax: entryCount - 1 },
        { ...BUNDLE_LIMITS, bytesMax: bytesTotal - 1 },
      ]) {
        await expect(openBundle(path, limits)).rejects.toMatchObject({
          code: 'INTAKE_PACKAGE_TOO_LARGE',
        });
      }
    }
  });

  async function readWhole(): Promise<Buffer> {
    return bytesOf(await openBundle(folder));
  }
});

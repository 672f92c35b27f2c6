import { execFile } from 'node:child_process';
import { chmod, link, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { isAppError, packTree, type TreeEntry } from '@kervyxa/core';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadVerifierPackage, readPackageArchive, type PackageLimits } from './index.ts';

const { signal } = new AbortController();
const LONG = `é${'n'.repeat(120)}`;
let root: string;
let folder: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'kervyxa-package-'));
  folder = join(root, 'package');
  await mkdir(join(folder, 'answers/none'), { recursive: true });
  await writeFile(join(folder, 'check.sh'), '#!/bin/sh\n');
  await chmod(join(folder, 'check.sh'), 0o700);
  await writeFile(join(folder, 'answers/1.txt'), 'one');
  await writeFile(join(folder, 'answers-later.txt'), 'sorted after the folder');
  await writeFile(join(folder, LONG), 'a long name');
});

afterEach(async () => {
  await rm(root, { recursive: true });
});

/** The folder as the system's tar archives it. */
async function tar(...argv: string[]): Promise<Buffer> {
  const file = join(root, 'package.tar');
  await promisify(execFile)('tar', ['-cf', file, '-C', folder, ...argv]);
  return readFile(file);
}

async function* stream(...pieces: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces;
}

function read(bytes: Uint8Array, limits?: PackageLimits) {
  return readPackageArchive(stream(bytes), limits);
}

async function pack(entries: readonly TreeEntry[]): Promise<Buffer> {
  const list = async function* (): AsyncGenerator<TreeEntry> {
    yield* entries;
  };
  return Buffer.concat(await Array.fromAsync(packTree(list(), signal)));
}

const file = (path: string, content = 'x'): TreeEntry => ({
  type: 'file',
  path,
  executable: false,
  size: content.length,
  content: Buffer.from(content),
});

describe('readPackageArchive', () => {
  it('gives an archive the digest of its folder, whoever archived it and in what order', async () => {
    const loaded = await loadVerifierPackage(folder);
    const own = await Array.fromAsync(loaded.archive.open(signal));
    const archives = [
      Buffer.concat(own),
      await tar('.'),
      await tar('--format=gnu', '--sort=name', '--mtime=@0', '--owner=7', '.'),
      // Out of order, and without the folder that two of them are in.
      await tar(
        '--format=pax',
        LONG,
        'check.sh',
        'answers/none',
        'answers-later.txt',
        'answers/1.txt',
      ),
    ];
    const packages = await Promise.all(archives.map((each) => read(each)));
    expect(packages.map(({ sha256 }) => sha256)).toEqual(archives.map(() => loaded.sha256));
    const { archive } = await readPackageArchive(stream(...own));
    expect(await Array.fromAsync(archive.open(signal))).toEqual(own);
    expect(archive).toMatchObject({ digest: loaded.sha256, entryCount: 6, bytesTotal: 47 });
  });

  it('adds the folders that an archive does not name', async () => {
    const named = await pack([{ type: 'folder', path: 'a' }, file('a/b')]);
    expect((await read(await pack([file('a/b')]))).sha256).toBe((await read(named)).sha256);
  });

  it('reads an archive of nothing as the empty folder', async () => {
    await rm(folder, { recursive: true });
    await mkdir(folder);
    const { sha256 } = await loadVerifierPackage(folder);
    expect((await read(await tar('.'))).sha256).toBe(sha256);
    expect((await read(await pack([]))).sha256).toBe(sha256);
  });

  it('H25 links to /etc/passwd: refused, as any link and any special file', async () => {
    await symlink('/etc/passwd', join(folder, 'answers/l'));
    const linked = await tar('.');
    await rm(join(folder, 'answers/l'));
    await link(join(folder, 'check.sh'), join(folder, 'twin.sh'));
    for (const bytes of [linked, await tar('.')]) {
      await expect(read(bytes)).rejects.toMatchObject({ code: 'INTAKE_PACKAGE_ENTRY_REFUSED' });
    }
  });

  it.each(['../out', '/etc/passwd', 'a/../b', 'a//b', '.git/config', 'a\\b', 'a\nb', 'ends.'])(
    'has the path %j: refused',
    async (path) => {
      await expect(read(await pack([file(path)]))).rejects.toMatchObject({
        code: 'INTAKE_PACKAGE_ENTRY_REFUSED',
      });
    },
  );

  it('says one thing twice, so that two readers could see two packages: refused', async () => {
    for (const entries of [
      [file('a', '1'), file('a', '2')],
      [file('a'), file('./a', '2')],
      [file('a'), file('a/b')],
      [file('a/b'), file('a')],
      [{ type: 'folder', path: 'a' } as const, file('a')],
    ]) {
      await expect(read(await pack(entries))).rejects.toMatchObject({
        code: 'INTAKE_PACKAGE_ENTRY_REFUSED',
        message: expect.stringContaining('twice'),
      });
    }
  });

  it('stops at the caps on entries and on bytes, folders that are not named included', async () => {
    const bytes = await pack([file('a/b/c', 'four'), file('d', 'five')]);
    const roomy = { entriesMax: 4, bytesMax: 8 };
    expect((await read(bytes, roomy)).archive.entryCount).toBe(4);
    for (const limits of [
      { ...roomy, entriesMax: 3 },
      { ...roomy, bytesMax: 7 },
    ]) {
      await expect(read(bytes, limits)).rejects.toMatchObject({ code: 'INTAKE_PACKAGE_TOO_LARGE' });
    }
  });

  it('is an archive without an end: read no further than the limits', async () => {
    let pieces = 0;
    const endless = async function* (): AsyncGenerator<Uint8Array> {
      for (;;) {
        pieces += 1;
        yield Buffer.alloc(4_096);
      }
    };
    await expect(
      readPackageArchive(endless(), { entriesMax: 10, bytesMax: 100_000 }),
    ).rejects.toMatchObject({ code: 'INTAKE_PACKAGE_TOO_LARGE' });
    expect(pieces).toBeLessThan(100);
  });

  it('is compressed, so that little could become much: refused', async () => {
    await expect(read(gzipSync(await tar('.')))).rejects.toMatchObject({
      code: 'INTAKE_PACKAGE_UNREADABLE',
      message: expect.stringContaining('compressed'),
    });
  });

  it('is cut off, or no archive: unreadable', async () => {
    const whole = await pack([file('a', 'x'.repeat(2_000))]);
    for (const bytes of [whole.subarray(0, 1_000), Buffer.from('PK\u0003\u0004'.repeat(400))]) {
      await expect(read(bytes)).rejects.toMatchObject({ code: 'INTAKE_PACKAGE_UNREADABLE' });
    }
  });

  it('is damaged anywhere: another package or one clear error, never a crash', async () => {
    const whole = await tar('--format=pax', '.');
    const byte = fc.tuple(fc.nat(whole.length - 1), fc.nat(255));
    await fc.assert(
      fc.asyncProperty(fc.array(byte, { minLength: 1, maxLength: 8 }), async (changes) => {
        const bytes = Buffer.from(whole);
        for (const [at, value] of changes) bytes[at] = value;
        const ended = await read(bytes).catch((error: unknown) => error);
        expect(isAppError(ended) || (ended instanceof Object && 'archive' in ended)).toBe(true);
      }),
    );
  });
});

import { gzipSync } from 'node:zlib';
import { packTree, sealTree, sha256Hex, type TreeEntry } from '@kervyxa/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readPackageUpload, type UploadLimits } from './index.ts';

const { signal } = new AbortController();
const ROOMY: UploadLimits = { entriesMax: 100, bytesMax: 1_000_000, heldBytesMax: 0 };

const file = (path: string, content = 'x', executable = false): TreeEntry => ({
  type: 'file',
  path,
  executable,
  size: Buffer.byteLength(content),
  content: Buffer.from(content),
});
const folder = (path: string): TreeEntry => ({ type: 'folder', path });

const TREE: readonly TreeEntry[] = [
  folder('answers'),
  file('answers/1.txt', 'y'.repeat(1_500)),
  folder('answers/none'),
  file('answers-later.txt'),
  file('check.sh', '#!/bin/sh\n', true),
  file(`é${'n'.repeat(120)}`, ''),
];

async function pack(entries: readonly TreeEntry[]): Promise<Buffer> {
  const list = async function* (): AsyncGenerator<TreeEntry> {
    yield* entries;
  };
  return Buffer.concat(await Array.fromAsync(packTree(list(), signal)));
}

async function* cut(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function upload(bytes: Buffer, limits: Partial<UploadLimits> = {}, size = 700) {
  const { chunks, entryCount } = await readPackageUpload(cut(bytes, size), { ...ROOMY, ...limits });
  const kept = Buffer.concat(await Array.fromAsync(chunks));
  return { sha256: sha256Hex(kept), entryCount: entryCount() };
}

// Keeps R-UPLOAD-BOUNDED.
describe('a large upload', () => {
  it.each([1, 511, 512, 4_096, 1_000_000])(
    'is passed on as it came, in pieces of %d bytes, under the digest of its content',
    async (size) => {
      const { digest } = await sealTree(TREE);
      const bytes = await pack(TREE);
      expect(await upload(bytes, {}, size)).toEqual({ sha256: digest, entryCount: 6 });
    },
  );

  it('is held no longer than it has to be: pieces are passed on while others are still to come', async () => {
    const bytes = await pack([file('a', 'x'.repeat(100_000))]);
    let taken = 0;
    const pieces = async function* (): AsyncGenerator<Uint8Array> {
      for await (const piece of cut(bytes, 1_000)) {
        taken += 1;
        yield piece;
      }
    };
    const { chunks } = await readPackageUpload(pieces(), { ...ROOMY, heldBytesMax: 5_000 });
    const ahead: number[] = [];
    let passed = 0;
    for await (const chunk of chunks) {
      passed += chunk.length;
      ahead.push(taken * 1_000 - passed);
    }
    expect(passed).toBe(bytes.length);
    expect(Math.max(...ahead)).toBeLessThanOrEqual(6_000);
  });

  it('gives any tree the same digest as a small one', async () => {
    const path = fc
      .array(fc.constantFrom('a', 'b', 'a-b', 'é', 'Z'), { minLength: 1, maxLength: 3 })
      .map((names) => names.join('/'));
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(path, { maxLength: 8 }), async (paths) => {
        const files = paths.filter((each) => !paths.some((other) => other.startsWith(`${each}/`)));
        const bytes = await pack(files.map((each) => file(each, each)));
        const { chunks } = await readPackageUpload(cut(bytes, 512), {
          ...ROOMY,
          heldBytesMax: 1_000_000,
        });
        const sealed = Buffer.concat(await Array.fromAsync(chunks));
        expect((await upload(sealed)).sha256).toBe(sha256Hex(sealed));
      }),
    );
  });

  it.each<[string, readonly TreeEntry[]]>([
    ['is out of order', [file('b'), file('a')]],
    ['is in the order of whole paths', [file('a-b'), folder('a'), file('a/b')]],
    ['does not name a folder', [file('a/b')]],
    ['comes back to a folder that it has left', [folder('a'), file('b'), file('a/c')]],
    ['says one thing twice', [file('a', '1'), file('a', '2')]],
    ['says of a file that it is a folder, too', [file('a'), folder('a')]],
    ['has a file below a file', [file('a'), file('a/b')]],
  ])('%s: refused', async (_, entries) => {
    await expect(upload(await pack(entries))).rejects.toMatchObject({
      code: 'INTAKE_PACKAGE_NOT_CANONICAL',
    });
  });

  it.each<[string, (bytes: Buffer) => Buffer]>([
    ['another time of a file', (bytes) => rewrite(bytes, 136, '07000000000')],
    ['another owner', (bytes) => rewrite(bytes, 108, '0000001')],
    ['other permissions', (bytes) => rewrite(bytes, 100, '000777 ')],
    ['more at its end', (bytes) => Buffer.concat([bytes, Buffer.alloc(512)])],
    ['less at its end', (bytes) => bytes.subarray(0, -512)],
    ['a part only', (bytes) => bytes.subarray(0, 1_024)],
    ['no archive', () => Buffer.from('PK\u0003\u0004'.repeat(400))],
  ])('has %s, so that its digest would not be that of its content: refused', async (_, change) => {
    const bytes = change(await pack([file('a', 'x'.repeat(700))]));
    await expect(upload(bytes)).rejects.toMatchObject({ code: 'INTAKE_PACKAGE_NOT_CANONICAL' });
  });

  it.each<[string, TreeEntry]>([
    ['H25 is a link', { type: 'symlink', path: 'l', target: '/etc/passwd' }],
    ['H25 leads out of its folder', file('../out')],
    ['has the path .git/config', file('.git/config')],
  ])('%s: refused', async (_, entry) => {
    await expect(upload(await pack([entry]))).rejects.toMatchObject({
      code: 'INTAKE_PACKAGE_ENTRY_REFUSED',
    });
  });

  it('stops at the caps on entries and on bytes', async () => {
    const bytes = await pack([file('a', 'four'), file('b', 'five')]);
    expect((await upload(bytes, { entriesMax: 2, bytesMax: 8 })).entryCount).toBe(2);
    for (const limits of [{ entriesMax: 1 }, { bytesMax: 7 }]) {
      await expect(upload(bytes, limits)).rejects.toMatchObject({
        code: 'INTAKE_PACKAGE_TOO_LARGE',
      });
    }
  });

  it('is compressed, so that little would become much: refused before it is unpacked', async () => {
    const bytes = gzipSync(await pack([file('a', 'x'.repeat(100_000))]));
    // Unpacked, it would be too large.
    await expect(upload(bytes, { bytesMax: 10 })).rejects.toMatchObject({
      code: 'INTAKE_PACKAGE_NOT_CANONICAL',
    });
  });

  it('is broken off: what its stream throws is thrown', async () => {
    const broken = new Error('gone');
    const stream = async function* (): AsyncGenerator<Uint8Array> {
      yield (await pack(TREE)).subarray(0, 1_000);
      throw broken;
    };
    const { chunks } = await readPackageUpload(stream(), ROOMY);
    await expect(Array.fromAsync(chunks)).rejects.toBe(broken);
  });
});

describe('a small upload', () => {
  it('may be any plain tar, and is put in order', async () => {
    const bytes = await pack([file('b/c'), file('a')]);
    const { digest } = await sealTree([file('a'), folder('b'), file('b/c')]);
    const held = await upload(bytes, { heldBytesMax: bytes.length });
    expect(held).toEqual({ sha256: digest, entryCount: 3 });
    await expect(upload(bytes, { heldBytesMax: bytes.length - 1 })).rejects.toMatchObject({
      code: 'INTAKE_PACKAGE_NOT_CANONICAL',
    });
  });
});

/** Writes into the first header, and puts its checksum right. */
function rewrite(bytes: Buffer, at: number, text: string): Buffer {
  const changed = Buffer.from(bytes);
  changed.write(text, at);
  changed.write(' '.repeat(8), 148);
  const sum = changed.subarray(0, 512).reduce((total, byte) => total + byte, 0);
  changed.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return changed;
}

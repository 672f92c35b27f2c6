import { gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { readTar, type TarEntry } from './read-tar.ts';
import { packTree, type TreeEntry } from './tree.ts';

async function* entriesOf(list: TreeEntry[]): AsyncGenerator<TreeEntry> {
  yield* list;
}

function pack(list: TreeEntry[]): AsyncGenerator<Uint8Array> {
  return packTree(entriesOf(list), new AbortController().signal);
}

/** The stream in pieces of `size` bytes. */
async function* cut(stream: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Uint8Array> {
  for await (const chunk of stream) {
    for (let at = 0; at < chunk.length; at += size) yield chunk.subarray(at, at + size);
  }
}

async function* pieces(...list: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* list;
}

const FILE: TreeEntry = {
  type: 'file',
  path: `${'d'.repeat(150)}/a`,
  executable: false,
  size: 2_000,
  content: Buffer.alloc(2_000, 'x'),
};

describe('readTar', () => {
  it.each([1, 511, 100_000])('reads what packTree wrote, in pieces of %d bytes', async (size) => {
    const seen: (TarEntry & { text: string })[] = [];
    const archive = pack([
      FILE,
      { type: 'symlink', path: 'l', target: 'x' },
      { type: 'folder', path: 'f' },
    ]);
    await readTar(cut(archive, size), (entry) => {
      const found = { ...entry, text: '' };
      seen.push(found);
      return (piece) => {
        found.text += Buffer.from(piece).toString();
      };
    });
    expect(seen).toEqual([
      {
        path: FILE.path,
        type: 'file',
        executable: false,
        size: 2_000,
        target: null,
        text: 'x'.repeat(2_000),
      },
      { path: 'l', type: 'symlink', executable: true, size: 0, target: 'x', text: '' },
      { path: 'f', type: 'folder', executable: true, size: 0, target: null, text: '' },
    ]);
  });

  it('shows an entry of a kind that it does not know', async () => {
    const [header = new Uint8Array()] = await Array.fromAsync(pack([{ ...FILE, path: 'a' }]));
    const odd = Buffer.from(header);
    odd.write('S', 156);
    odd.write('        ', 148);
    odd.write(
      `${odd
        .reduce((sum, byte) => sum + byte, 0)
        .toString(8)
        .padStart(6, '0')}\0 `,
      148,
    );
    const seen: TarEntry[] = [];
    await readTar(cut(pieces(odd, Buffer.alloc(2_048 + 1_024)), 512), (entry) => {
      seen.push(entry);
      return undefined;
    });
    expect(seen).toEqual([
      { path: 'a', type: 'other', executable: false, size: 2_000, target: null },
    ]);
  });

  it('reads an archive without entries', async () => {
    const seen: TarEntry[] = [];
    await readTar(pack([]), (entry) => {
      seen.push(entry);
      return undefined;
    });
    expect(seen).toEqual([]);
  });

  it('rejects an archive that was cut off', async () => {
    async function* half(): AsyncGenerator<Uint8Array> {
      for await (const chunk of pack([FILE])) {
        yield chunk.subarray(0, 1_000);
        if (chunk.length >= 1_000) return;
      }
    }
    await expect(readTar(half(), () => undefined)).rejects.toThrow('Truncated');
  });

  it.each([
    ['gzip', gzipSync],
    ['Zstandard', zstdCompressSync],
  ])('is handed a bomb packed with %s: refused before any of it is unpacked', async (_, press) => {
    const bomb = Buffer.concat([Buffer.alloc(512), press(Buffer.alloc(1_048_576))]);
    for (const [start, size] of [
      [512, 1],
      [512, 65_536],
      // What is nothing is passed over, and then comes the bomb.
      [0, 512],
    ] as const) {
      const stream = cut(pieces(bomb.subarray(start)), size);
      await expect(readTar(stream, () => undefined)).rejects.toThrow('compressed');
    }
  });

  it.each([
    ['a byte that is not UTF-8', 'path=', 5, 0xff],
    ['a NUL', 'path=', 5, 0],
    ['a length that is not the record’s', ' path=', -1, 0x35],
  ])(
    'has a long name with %s: rejected, not read under its short name',
    async (_, text, by, to) => {
      const archive = Buffer.concat(await Array.fromAsync(pack([{ ...FILE, path: 'é' }])));
      archive[archive.indexOf(text) + by] = to;
      await expect(readTar(pieces(archive), () => undefined)).rejects.toThrow('extended headers');
    },
  );

  it('rejects with what its caller throws', async () => {
    const refuse = (): never => {
      throw new Error('not this one');
    };
    await expect(readTar(pack([FILE]), refuse)).rejects.toThrow('not this one');
  });
});

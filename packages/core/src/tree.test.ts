import { Parser } from 'tar';
import { describe, expect, it } from 'vitest';
import { packTree, TREE_TIME, type TreeEntry } from './tree.ts';

async function* entriesOf(list: TreeEntry[]): AsyncGenerator<TreeEntry> {
  yield* list;
}

async function unpack(list: TreeEntry[]): Promise<Record<string, unknown>[]> {
  const found: Record<string, unknown>[] = [];
  const parser = new Parser({
    strict: true,
    onReadEntry: (entry) => {
      const { path, type, mode, mtime, linkpath, uid } = entry;
      const pieces: Buffer[] = [];
      entry.on('data', (piece: Buffer) => pieces.push(piece));
      entry.on('end', () =>
        found.push({
          path,
          type,
          mode,
          mtime,
          linkpath,
          uid,
          text: Buffer.concat(pieces).toString(),
        }),
      );
    },
  });
  for await (const chunk of packTree(entriesOf(list), new AbortController().signal)) {
    parser.write(Buffer.from(chunk));
  }
  parser.end();
  return found;
}

describe('packTree', () => {
  const fixed = { mtime: TREE_TIME, uid: 0, linkpath: undefined };

  it('writes files, links and folders with fixed owner, mode and time', async () => {
    const long = `${'d'.repeat(120)}/${'é'.repeat(120)}.txt`;
    expect(
      await unpack([
        { type: 'file', path: 'a.sh', executable: true, size: 2, content: Buffer.from('hi') },
        { type: 'file', path: long, executable: false, size: 0, content: new Uint8Array() },
        { type: 'symlink', path: 'l', target: '../nowhere' },
        { type: 'folder', path: 'empty' },
      ]),
    ).toEqual([
      { ...fixed, path: 'a.sh', type: 'File', mode: 0o755, text: 'hi' },
      { ...fixed, path: long, type: 'File', mode: 0o644, text: '' },
      { ...fixed, path: 'l', type: 'SymbolicLink', mode: 0o777, linkpath: '../nowhere', text: '' },
      { ...fixed, path: 'empty', type: 'Directory', mode: 0o755, text: '' },
    ]);
  });

  it('passes a large file on in pieces', async () => {
    const piece = Buffer.alloc(100_000, 'x');
    async function* content(): AsyncGenerator<Uint8Array> {
      for (let count = 0; count < 50; count += 1) yield piece;
    }
    const [file] = await unpack([
      { type: 'file', path: 'big', executable: false, size: 5_000_000, content: content() },
    ]);
    expect(String(file?.['text']).length).toBe(5_000_000);
  });

  it('ends with the error of its source instead of a short archive', async () => {
    async function* content(): AsyncGenerator<Uint8Array> {
      yield Buffer.alloc(10);
      throw new Error('object store went away');
    }
    await expect(
      unpack([{ type: 'file', path: 'big', executable: false, size: 5_000, content: content() }]),
    ).rejects.toThrow('object store went away');
  });

  it('ends with an error when a file has fewer bytes than it promised', async () => {
    async function* content(): AsyncGenerator<Uint8Array> {
      yield Buffer.alloc(10);
    }
    await expect(
      unpack([{ type: 'file', path: 'big', executable: false, size: 5_000, content: content() }]),
    ).rejects.toThrow('expected 5000 bytes of big, got 10');
  });
});

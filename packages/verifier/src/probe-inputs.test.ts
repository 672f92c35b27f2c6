import { packTree, readTar, sealTree, type TreeArchive, type TreeEntry } from '@kervyxa/core';
import { describe, expect, it } from 'vitest';
import { cutProbeInputs } from './probe-inputs.ts';

const { signal: never } = new AbortController();

function file(path: string, content: string | Uint8Array, executable = false): TreeEntry {
  const bytes = Buffer.from(content);
  return { type: 'file', path, executable, size: bytes.length, content: bytes };
}

/** `path mode bytes` of each entry. */
async function listOf(archive: TreeArchive | null): Promise<string[]> {
  const lines: string[] = [];
  if (archive === null) return lines;
  await readTar(archive.open(never), ({ path, type, executable, size }) => {
    const start = `${path} ${type}${executable ? ' x' : ''} ${size} `;
    const at = lines.push(start) - 1;
    return (piece) => {
      const shown = size > 100 ? '.'.repeat(piece.length) : Buffer.from(piece).toString();
      lines[at] += shown;
    };
  });
  return lines.map((line) =>
    line.length > 400 ? line.replace(/\.+$/, (dots) => `${dots.length} kept`) : line,
  );
}

/** The same archive in pieces of so many bytes. */
function inPieces(archive: TreeArchive, bytes: number): TreeArchive {
  return {
    ...archive,
    async *open(signal) {
      for await (const chunk of archive.open(signal)) {
        for (let at = 0; at < chunk.length; at += bytes) yield chunk.subarray(at, at + bytes);
      }
    },
  };
}

describe('what a probe gets of a package', () => {
  const long = `${'d'.repeat(120)}/${'é'.repeat(100)}.json`;
  const entries = [
    file('judge.js', 'judge'),
    { type: 'folder', path: 'probe' },
    file('probe/empty', ''),
    file('probe/large', Buffer.alloc(200_001)),
    file(`probe/${long}`, 'long'),
    { type: 'folder', path: 'probe/nothing' },
    file('probe/probe/inner', 'twice'),
    file('probe/run.sh', 'run', true),
    file('probe.txt', 'beside'),
    file('probes/x', 'beside'),
    file('sub/probe/x', 'beside'),
  ] satisfies TreeEntry[];

  it.each([7, 512, 1_000_000])(
    'is its folder probe/, read in pieces of %i bytes',
    async (bytes) => {
      const inputs = await cutProbeInputs(inPieces(await sealTree(entries), bytes), never);
      expect(await listOf(inputs)).toEqual([
        'empty file 0 ',
        'large file 200001 200001 kept',
        `${long} file 4 long`,
        'nothing folder x 0 ',
        'probe/inner file 5 twice',
        'run.sh file x 3 run',
      ]);
      expect(inputs).toMatchObject({ entryCount: 6, bytesTotal: 200_001 + 4 + 5 + 3 });
    },
  );

  it('is nothing where there is no such folder, or nothing in it', async () => {
    expect(await cutProbeInputs(await sealTree([file('probe', 'a file')]), never)).toBeNull();
    expect(
      await cutProbeInputs(await sealTree([{ type: 'folder', path: 'probe' }]), never),
    ).toBeNull();
  });

  it('has a name of its own for each package', async () => {
    const digests = await Promise.all(
      ['1', '2'].map(async (text) => {
        const sealed = await sealTree([file('probe/a', text)]);
        return [sealed.digest, (await cutProbeInputs(sealed, never))?.digest];
      }),
    );
    expect(new Set(digests.flat()).size).toBe(4);
  });

  it('ends with the error of its source instead of a short archive', async () => {
    const sealed = await sealTree(entries);
    let opened = 0;
    const broken: TreeArchive = {
      ...sealed,
      async *open(signal) {
        opened += 1;
        if (opened === 1) yield* sealed.open(signal);
        else {
          yield* packTree(
            (async function* () {
              yield file('probe/a', 'a');
              throw new Error('store went away');
            })(),
            signal,
          );
        }
      },
    };
    await expect(listOf(await cutProbeInputs(broken, never))).rejects.toThrow('store went away');
  });
});

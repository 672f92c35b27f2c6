import { deepEqual, ok } from 'node:assert/strict';
import { CommitShaSchema, type TreeEntry, treeHeader, treePadding } from '@kervyxa/core';
import { readPackageArchive } from '@kervyxa/intake/package';
import * as fc from 'fast-check';
import { splitBundle, writeBundleHeader } from '../../../packages/intake/src/git/bundle.ts';
import { edited } from '../arbitraries.ts';
import { readTarNaively, type NaiveEntry } from '../naive-tar.ts';
import { answerOf, defineTarget } from '../target.ts';

const LIMITS = { entriesMax: 6, bytesMax: 200 };
const { signal } = new AbortController();

const name = fc.oneof(
  fc.constantFrom('a', 'b', 'judge.js', 'é', 'n'.repeat(120), '..', '.', '.git', '', 'a\nb'),
  fc.string({ minLength: 1, maxLength: 4 }),
);
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'));
const entry: fc.Arbitrary<TreeEntry> = fc.oneof(
  fc
    .tuple(path, fc.boolean(), fc.uint8Array({ maxLength: 90 }))
    .map(([at, executable, content]): TreeEntry => ({
      type: 'file',
      path: at,
      executable,
      size: content.length,
      content,
    })),
  path.map((at): TreeEntry => ({ type: 'folder', path: at })),
  path.map((at): TreeEntry => ({ type: 'symlink', path: at, target: '/etc/passwd' })),
);

export const archiveTarget = defineTarget('archive of a package', {
  // Packed here, as bytes: an entry that no archive can hold is left out.
  input: edited(fc.array(entry, { maxLength: 4 }).map(packAll)),
  async holds(bytes) {
    const answer = await answerOf(() => readPackageArchive(piecesOf(bytes), LIMITS));
    if ('refused' in answer) return;
    const taken = readTarNaively(await bytesOf(answer.value.archive.open(signal)));
    const given = readTarNaively(Buffer.from(bytes));
    ok(given !== null && taken !== null, 'taken, and no archive to a plain reader');
    const files = filesOf(given);
    deepEqual(filesOf(taken), files);
    ok(given.every(({ type }) => type === 'file' || type === 'folder'));
    ok(taken.length <= LIMITS.entriesMax);
    ok(files.reduce((sum, [, content]) => sum + content.length / 2, 0) <= LIMITS.bytesMax);
    for (const { path: at } of taken) {
      const names = at.split('/');
      ok(!names.some((each) => ['', '.', '..', '.git'].includes(each)), `took ${at}`);
    }
  },
});

const sha = fc
  .constantFrom('a'.repeat(40), 'b'.repeat(40))
  .map((text) => CommitShaSchema.parse(text));

export const bundleTarget = defineTarget('head of a capture', {
  input: fc.tuple(
    sha,
    sha,
    edited(
      fc.tuple(sha, fc.option(sha)).map(([commit, base]) => writeBundleHeader({ commit, base })),
    ),
  ),
  async holds([commit, base, bytes]) {
    const { header, rest } = await splitBundle(piecesOf(bytes)[Symbol.asyncIterator](), {
      commit,
      base,
    });
    const text = Buffer.from(bytes).toString('latin1');
    const isOurs = [`-${base}\n`, ''].find((needs) => {
      return text.startsWith(`# v2 git bundle\n${needs}${commit} refs/`);
    });
    if (header === null) return;
    deepEqual(header, { commit, base: isOurs === '' ? null : base });
    deepEqual(Buffer.from(rest).toString('latin1'), text.slice(text.indexOf('\n\n') + 2));
  },
});

function packAll(entries: readonly TreeEntry[]): Uint8Array {
  return Buffer.concat([...entries.flatMap(packOne), Buffer.alloc(1_024)]);
}

function packOne(each: TreeEntry): Uint8Array[] {
  if (each.type !== 'file') return treeHeader(each);
  const content = each.content instanceof Uint8Array ? each.content : new Uint8Array(each.size);
  return [...treeHeader(each), content, treePadding(each.size)];
}

/** Path, content in hexadecimal and whether it may be executed, of every file. */
function filesOf(entries: readonly NaiveEntry[]): [string, string, boolean][] {
  return entries
    .filter(({ type }) => type === 'file')
    .map(({ path: at, content, executable }): [string, string, boolean] => [
      at,
      content.toString('hex'),
      executable,
    ])
    .toSorted(([a], [b]) => Buffer.from(a).compare(Buffer.from(b)));
}

async function* piecesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes.subarray(0, 100);
  yield bytes.subarray(100);
}

async function bytesOf(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(stream));
}

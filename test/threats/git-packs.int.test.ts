import { createHash } from 'node:crypto';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { CommitShaSchema } from '@kervyxa/core';
import { rawCommit } from '@kervyxa/testing';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { BLOB, COMMIT, createPackWriter } from '../../packages/intake/src/git/testing/slow-pack.ts';
import { openAttackBench, type AttackBench, type AttackEnd } from './attack-bench.ts';

let bench: AttackBench;
let ids: { readonly base: string; readonly fix: string };
beforeAll(async () => {
  bench = await openAttackBench();
  ids = await bench.build('main', [
    { name: 'base', files: { 'check.sh': 'sh hello.sh\n', 'hello.sh': 'exit 1\n' } },
    { name: 'fix', parents: ['base'], files: { 'hello.sh': 'exit 0\n' } },
  ]);
});
afterEach(() => bench.assertNothingLeft());
afterAll(() => bench.close());

type Writer = ReturnType<typeof createPackWriter>;

/** Serves one pack, whatever is asked for, and submits a commit of it. */
async function submitPack(
  write: (pack: Writer) => string | { pack: Uint8Array; commit: string },
): Promise<AttackEnd> {
  const writer = createPackWriter();
  const made = write(writer);
  const { pack, commit } = typeof made === 'string' ? { pack: writer.pack(), commit: made } : made;
  const server = await bench.startServer({ pack });
  const repository = server.url('main.git');
  return bench.attack('main', ids.base, { repository, commit });
}

const commitOn = (pack: Writer, tree: string, parents = [ids.base], message = 'x\n'): string =>
  pack.add(COMMIT, 'commit', Buffer.from(rawCommit(tree, parents, message)));
const idOf = (type: string, content: Uint8Array): string =>
  createHash('sha1').update(`${type} ${content.length}\0`).update(content).digest('hex');

it('G27 sends other bytes under an id that the store has: git refuses them, INCONCLUSIVE', async () => {
  // No two objects of git with one SHA-1 are known, so the other one is put into the store by force. Captures and
  // evidence are named by SHA-256.
  const cacheOf = () => join(bench.served, '../cache/v1/stores');
  const before = await bench.attack('main', ids.base, { commit: ids.base });
  expect(before.said).toBe('FAIL EMPTY_DIFF');
  const stores = await readdir(cacheOf(), { recursive: true });
  const store = stores.find((name) => name.endsWith(`${ids.base}.git`)) ?? '';
  const real = Buffer.from('the real bytes\n');
  const id = idOf('blob', real);
  const folder = join(cacheOf(), store, 'objects', id.slice(0, 2));
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, id.slice(2)), deflateSync(Buffer.from('blob 5\0other')));
  const writer = createPackWriter();
  writer.add(BLOB, 'blob', real);
  const commit = commitOn(writer, writer.addTree([id]));
  const server = await bench.startServer({ pack: writer.pack() });
  const repository = server.url('main.git');
  const ends = [
    await bench.attack('main', ids.base, { repository, commit, intake: {} }),
    await bench.attack('main', ids.base, { repository, commit }),
  ];
  expect(ends.map(({ said }) => said)).toEqual([
    expect.stringMatching(/^FAIL PROTECTED_PATH_CHANGED/),
    'INCONCLUSIVE REPOSITORY_UNREACHABLE',
  ]);
});

const small = (pack: Writer): string => pack.addTree([pack.add(BLOB, 'blob', Buffer.from('x\n'))]);

it.each([
  ['no bytes', () => ({ pack: Buffer.alloc(0), commit: ids.fix })],
  [
    'a head alone',
    () => ({ pack: Buffer.from('5041434b0000000200000000', 'hex'), commit: ids.fix }),
  ],
  [
    'more objects promised than sent',
    () => ({ pack: Buffer.from('5041434b00000002ffffffff', 'hex'), commit: ids.fix }),
  ],
  [
    'a wrong checksum',
    (pack: Writer) => {
      const commit = commitOn(pack, small(pack));
      const bytes = Buffer.from(pack.pack());
      bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
      return { pack: bytes, commit };
    },
  ],
  [
    'an object twice, of which one lacks what it names',
    (pack: Writer) => {
      const tree = small(pack);
      small(pack);
      return commitOn(pack, tree);
    },
  ],
  [
    'a delta of an object of another repository',
    (pack: Writer) => {
      pack.addDelta('ab'.repeat(20), Buffer.from([5, 1, 1, 0x78]));
      return commitOn(pack, small(pack));
    },
  ],
  [
    'a delta of itself',
    (pack: Writer) => {
      const copy = Buffer.from([2, 2, 0x90, 2]);
      pack.addDelta(idOf('blob', Buffer.from('x\n')), copy);
      return commitOn(pack, pack.addTree([idOf('blob', Buffer.from('x\n'))]));
    },
  ],
  [
    'a delta that writes past its end',
    (pack: Writer) => {
      const base = pack.add(BLOB, 'blob', Buffer.from('12345'));
      pack.addDelta(base, Buffer.from([5, 1, 0x91, 200, 255]));
      return commitOn(pack, small(pack));
    },
  ],
  ['a commit without its tree', (pack: Writer) => commitOn(pack, 'ab'.repeat(20))],
  ['a tree without its file', (pack: Writer) => commitOn(pack, pack.addTree(['ab'.repeat(20)]))],
  [
    'a commit that is its own tree’s file',
    (pack: Writer) => commitOn(pack, pack.addTree([ids.base])),
  ],
  [
    'a commit whose head has no people',
    (pack: Writer) =>
      pack.add(COMMIT, 'commit', Buffer.from(`tree ${small(pack)}\nparent ${ids.base}\n\nx\n`)),
  ],
  [
    'a commit with a NUL in front of its parent',
    (pack: Writer) => {
      const text = rawCommit(small(pack), [ids.base]).replace('parent', '\0parent');
      return pack.add(COMMIT, 'commit', Buffer.from(text));
    },
  ],
  [
    'a commit with two trees',
    (pack: Writer) => {
      const tree = small(pack);
      const text = rawCommit(tree, [ids.base]).replace('\nparent', `\ntree ${tree}\nparent`);
      return pack.add(COMMIT, 'commit', Buffer.from(text));
    },
  ],
] as const)('sends a pack with %s: INCONCLUSIVE REPOSITORY_UNREACHABLE', async (_what, write) => {
  const { said } = await submitPack(write as Parameters<typeof submitPack>[0]);
  expect(said).toBe('INCONCLUSIVE REPOSITORY_UNREACHABLE');
});

it('offers its pack and its bundle at other addresses: nobody goes there, INCONCLUSIVE', async () => {
  const canary: string[] = [];
  const packet = (text: string) => `${(text.length + 4).toString(16).padStart(4, '0')}${text}`;
  const server = createServer((request, response) => {
    canary.push(request.url ?? '');
    const isFirst = request.method === 'GET';
    const kind = isFirst ? 'advertisement' : 'result';
    response.setHeader('content-type', `application/x-git-upload-pack-${kind}`);
    const uri = `${'ab'.repeat(20)} ${bench.server.origin}/elsewhere.pack`;
    const lines = isFirst
      ? [
          'version 2\n',
          'ls-refs\n',
          'fetch=shallow packfile-uris\n',
          'bundle-uri\n',
          'promisor-remote=name=x,url=http://127.0.0.1:1/\n',
        ]
      : ['packfile-uris\n', `${uri}\n`, `bundle.x.uri=${bench.server.origin}/elsewhere.bundle\n`];
    response.end(`${lines.map(packet).join('')}0000`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const origin = `http://127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}`;
  bench.allowOrigin(origin);
  const { said } = await bench.attack('main', ids.base, {
    repository: `${origin}/main.git`,
    commit: ids.fix,
    intake: {},
  });
  server.close();
  expect(said).toBe('INCONCLUSIVE REPOSITORY_UNREACHABLE');
  expect(bench.server.requests.filter(({ target }) => target.includes('elsewhere'))).toEqual([]);
  expect(canary.every((path) => path.startsWith('/main.git/'))).toBe(true);
});

it('G11 smuggles a commit into the pack of another: nobody finds it at the requester’s URL, COMMIT_NOT_FOUND', async () => {
  const writer = createPackWriter();
  const file = writer.add(BLOB, 'blob', Buffer.from('exit 0\n'));
  const tree = writer.addTree([file]);
  const smuggled = commitOn(writer, tree, [ids.base], 'as if the requester had made it\n');
  const carrier = commitOn(writer, tree);
  const server = await bench.startServer({ pack: writer.pack() });
  const repository = server.url('main.git');
  const first = await bench.attack('main', ids.base, { repository, commit: carrier });
  expect(first.verdict).toBe('FAIL');
  for (const base of [ids.base, ids.fix]) {
    const { said } = await bench.attack('main', base, { commit: smuggled });
    expect(said).toBe('INCONCLUSIVE COMMIT_NOT_FOUND');
  }
});

it('G11 G27 sends two workers at once other packs for one commit: the bad one is kept by nobody', async () => {
  const good = createPackWriter();
  const commit = commitOn(good, small(good));
  const bad = createPackWriter();
  const text = rawCommit(small(bad), [ids.base], 'x\n').replace('x\n', 'y\n');
  bad.add(COMMIT, 'commit', Buffer.from(text));
  const server = await bench.startServer({ pack: bad.pack() });
  const repository = server.url('main.git');
  const intakes = [1, 2].map(() => bench.newIntake());
  const request = {
    baseRepositoryUrl: bench.server.url('main.git'),
    baseCommit: CommitShaSchema.parse(ids.base),
    repositoryUrl: repository,
    commit: CommitShaSchema.parse(commit),
  };
  const { signal } = new AbortController();
  const bads = Promise.all(intakes.map((intake) => intake.fetchCommit(request, signal)));
  expect((await bads).map(({ kind }) => kind)).toEqual(['unavailable', 'unavailable']);
  server.reconfigure({ pack: good.pack() });
  const goods = await Promise.all(intakes.map((intake) => intake.fetchCommit(request, signal)));
  for (const outcome of goods) {
    expect(outcome).toMatchObject({ kind: 'fetched', source: { commit, isDescendant: true } });
    if (outcome.kind === 'fetched') await outcome.source.close();
  }
});

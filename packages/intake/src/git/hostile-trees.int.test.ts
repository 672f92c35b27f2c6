import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rawCommit, rawTree, writeBranch, writeObject, type RawTreeEntry } from '@kervyxa/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { IntakeOutcome, TreeFault } from '../port.ts';
import { unpack } from '../shared-suite.ts';
import type { IntakeLimits } from './limits.ts';
import { createWorld, runPlainGit, sha, type World } from './testing/harness.ts';
import { slowPack } from './testing/slow-pack.ts';

const { signal } = new AbortController();
let world: World;
let repository: string;
let blob: string;
let base: string;

beforeAll(async () => {
  world = await createWorld();
  repository = join(world.repositories, 'raw.git');
  await runPlainGit('init', '-q', '--bare', repository);
  blob = await writeObject(repository, 'blob', 'content\n');
  base = await commitTree(await tree(file('a.txt')), []);
});

afterAll(async () => {
  await world.close();
});

const file = (name: string | Uint8Array, mode = '100644'): RawTreeEntry => ({
  mode,
  name,
  id: blob,
});
const folder = (name: string, id: string, mode = '40000'): RawTreeEntry => ({ mode, name, id });
const tree = (...entries: RawTreeEntry[]): Promise<string> =>
  writeObject(repository, 'tree', rawTree(entries));

/** Writes a commit that a branch reaches and returns its id. */
async function commitTree(treeId: string, parents: string[], message?: string): Promise<string> {
  const id = await writeObject(repository, 'commit', rawCommit(treeId, parents, message));
  await writeBranch(repository, id.slice(0, 12), id);
  return id;
}

async function submit(
  commit: string,
  limits: Partial<IntakeLimits> = {},
  baseCommit = base,
): Promise<IntakeOutcome> {
  const url = world.server.url('raw.git');
  const request = { baseRepositoryUrl: url, repositoryUrl: url, baseCommit: sha(baseCommit) };
  return world.newIntake({ limits }).fetchCommit({ ...request, commit: sha(commit) }, signal);
}

async function faultsOf(treeId: string): Promise<readonly TreeFault[]> {
  const outcome = await submit(await commitTree(treeId, [base]));
  if (outcome.kind !== 'fetched') throw new Error(`expected a commit: ${outcome.message}`);
  return outcome.source.treeFaults;
}

describe('a submitted tree', () => {
  it.each(['.git', '.GIT', 'git~1', '.g\u200cit', '..', '.'])(
    'G33 holds %j: UNSAFE_PATH, and not a fetch that failed',
    async (name) => {
      const inner = await tree(file('config'));
      const faults = await faultsOf(await tree(folder(name, inner), file('a.txt')));
      expect(faults.map(({ reason }) => reason)).toContain('UNSAFE_PATH');
    },
  );

  it('G33 holds an empty folder called .git, which no listing shows: UNSAFE_PATH', async () => {
    const faults = await faultsOf(await tree(folder('.git', await tree()), file('a.txt')));
    expect(faults.map(({ reason }) => reason)).toEqual(['UNSAFE_PATH']);
  });

  it('D21 holds a name that is not UTF-8: UNSAFE_PATH', async () => {
    const faults = await faultsOf(await tree(file('a.txt'), file(Buffer.from([0xff, 0xfe]))));
    expect(faults).toEqual([
      {
        reason: 'UNSAFE_PATH',
        path: '\ufffd\ufffd',
        message: 'the path \ufffd\ufffd is not UTF-8',
      },
    ]);
  });

  it('D23 holds one name twice, of which diff and checkout take different ones: UNSAFE_PATH', async () => {
    const inner = await tree(file('v.sh'));
    const faults = await faultsOf(
      await tree(file('a.txt'), folder('protected', inner), folder('protected', await tree())),
    );
    expect(faults.map(({ message }) => message)).toContain(
      'the root folder has the entry protected twice',
    );
  });

  it.each(['100664', '104755', '0100644'])(
    'D25 holds a file of mode %s: UNSAFE_PATH',
    async (mode) => {
      const faults = await faultsOf(await tree(file('a.txt'), file('b.txt', mode)));
      expect(faults.map(({ reason }) => reason)).toEqual(['UNSAFE_PATH']);
    },
  );

  it('holds entries out of order', async () => {
    const faults = await faultsOf(await tree(file('b.txt'), file('a.txt')));
    expect(faults.map(({ reason }) => reason)).toEqual(['UNSAFE_PATH']);
  });

  it('G29 holds a bare repository whose config runs a command: it is data, and nothing runs', async () => {
    const canary = join(world.root, 'canary');
    const config = await writeObject(
      repository,
      'blob',
      `[core]\n\trepositoryformatversion = 0\n\tfsmonitor = "touch ${canary}; false"\n`,
    );
    const head = await writeObject(repository, 'blob', 'ref: refs/heads/main\n');
    const inner = await tree(
      { mode: '100644', name: 'HEAD', id: head },
      { mode: '100644', name: 'config', id: config },
    );
    const outcome = await submit(
      await commitTree(await tree(file('a.txt'), folder('fixtures', inner)), [base]),
    );
    if (outcome.kind !== 'fetched') throw new Error(outcome.message);
    expect(Object.keys(await unpack(outcome.source.archive()))).toEqual([
      'a.txt',
      'fixtures/HEAD',
      'fixtures/config',
    ]);
    await expect(runPlainGit('hash-object', canary)).rejects.toThrow('could not open');
  });
});

describe('a base tree', () => {
  it.each(['..', '.'])('holds a folder called %j: no solver fails for it', async (name) => {
    const inner = folder(name, await tree(file('evil')));
    const odd = await commitTree(await tree(inner, file('a.txt')), []);
    const fix = await commitTree(await tree(inner, file('a.txt'), file('b.txt')), [odd]);
    expect(await submit(fix, {}, odd)).toMatchObject({
      kind: 'unavailable',
      reason: 'SETUP_FAILED_AT_BASE',
    });
  });

  it('holds a name, or a link’s target, that is not UTF-8: it would arrive as another', async () => {
    const bytes = Buffer.from([0xff]);
    const target = await writeObject(repository, 'blob', bytes);
    for (const odd of [file(bytes), { mode: '120000', name: 'z', id: target }]) {
      const oddBase = await commitTree(await tree(file('a.txt'), odd), []);
      const fix = await commitTree(await tree(file('a.txt'), file('b.txt'), odd), [oddBase]);
      expect(await submit(fix, {}, oddBase)).toMatchObject({ reason: 'SETUP_FAILED_AT_BASE' });
    }
  });

  it('has more entries than are allowed: no solver fails for it', async () => {
    const large = await commitTree(await tree(file('a'), file('b'), file('c')), []);
    const fix = await commitTree(await tree(file('a'), file('b')), [large]);
    expect(await submit(fix, { treeEntriesMax: 2 }, large)).toMatchObject({
      kind: 'unavailable',
      reason: 'SETUP_FAILED_AT_BASE',
    });
  });
});

describe('a server that is smart when asked and plain files when fetched from', () => {
  it.each([
    ['one name twice', async () => tree(file('a.txt'), file('a.txt', '100755'))],
    [
      'a file whose id is that of a folder',
      async () => tree(file('a.txt'), { ...file('b.txt'), id: await tree(file('x')) }),
    ],
    [
      'a link whose id is that of a commit',
      async () => tree(file('a.txt'), { mode: '120000', name: 'l', id: base }),
    ],
  ])('G06 gets %s past no check', async (_attack, treeOf) => {
    const commit = await commitTree(await treeOf(), [base]);
    await runPlainGit('-C', repository, 'update-server-info');
    const server = await world.startServer({});
    const turned = server.requested('info/refs').then(() => server.reconfigure({ dumb: true }));
    const outcome = await world.newIntake().fetchCommit(
      {
        baseRepositoryUrl: world.server.url('raw.git'),
        repositoryUrl: server.url('raw.git'),
        baseCommit: sha(base),
        commit: sha(commit),
      },
      signal,
    );
    await turned;
    expect(server.requests.length).toBeGreaterThan(1);
    const isCaught = outcome.kind !== 'fetched' || outcome.source.treeFaults.length > 0;
    expect(isCaught).toBe(true);
  });
});

// Keeps R-INTAKE-BOUNDED.
describe('a bomb', () => {
  it('G21 is a file larger than allowed: SOURCE_TOO_LARGE, found without reading it', async () => {
    const zeros = await writeObject(repository, 'blob', Buffer.alloc(3_000_000));
    const bomb = await tree(file('a.txt'), { mode: '100644', name: 'zeros', id: zeros });
    const commit = await commitTree(bomb, [base]);
    for (const limits of [{ fileBytesMax: 2_999_999 }, { treeBytesMax: 3_000_000 }]) {
      const outcome = await submit(commit, limits);
      if (outcome.kind !== 'fetched') throw new Error(outcome.message);
      expect(outcome.source.treeFaults.map(({ reason }) => reason)).toEqual(['SOURCE_TOO_LARGE']);
    }
    const allowed = await submit(commit, { fileBytesMax: 3_000_000, treeBytesMax: 3_000_008 });
    expect(allowed).toMatchObject({ source: { treeFaults: [] } });
  });

  it('G22 is a tree of ten billion paths in eleven objects: SOURCE_TOO_LARGE', async () => {
    let level = await tree(file('f'));
    for (let depth = 0; depth < 10; depth += 1) {
      const names = Array.from({ length: 10 }, (_, index) => folder(`d${index}`, level));
      level = await tree(...names);
    }
    expect(await submit(await commitTree(level, [base]))).toMatchObject({
      kind: 'refused',
      reason: 'SOURCE_TOO_LARGE',
    });
  });

  it('is a million empty folders, which a listing of files does not count: refused', async () => {
    const empty = await tree();
    let level = empty;
    for (let depth = 0; depth < 3; depth += 1) {
      const names = Array.from({ length: 100 }, (_, index) =>
        folder(`d${String(index).padStart(2, '0')}`, level),
      );
      level = await tree(...names);
    }
    expect(await submit(await commitTree(level, [base]))).toMatchObject({
      kind: 'refused',
      reason: 'SOURCE_TOO_LARGE',
    });
  });

  it('is a thousand folders with long names, each in the one before: refused', async () => {
    let level = await tree(file('f'));
    for (let depth = 0; depth < 1_000; depth += 1) {
      level = await tree(folder('d'.repeat(20), level));
    }
    const outcome = await submit(await commitTree(level, [base]));
    expect(outcome).toMatchObject({ kind: 'refused', reason: 'SOURCE_TOO_LARGE' });
  });

  it('D18 is a file below 257 folders with short names: refused', async () => {
    let level = await tree(file('f'));
    for (let depth = 0; depth < 257; depth += 1) level = await tree(folder('d', level));
    expect(await submit(await commitTree(level, [base]))).toMatchObject({
      kind: 'refused',
      reason: 'SOURCE_TOO_LARGE',
    });
  });

  it('G20 is a pack in which each small file costs the unpacking of a large one: SOURCE_TOO_LARGE', async () => {
    const { pack, commit, parent } = slowPack({ files: 60, baseBytes: 110 * 1_048_576 });
    const place = join(repository, 'objects/pack/pack-slow.pack');
    await writeFile(place, pack);
    await runPlainGit('-C', repository, 'index-pack', place);
    await writeBranch(repository, 'slow', commit);
    const outcome = await submit(commit, { gitCpuSecondsMax: 12 }, parent);
    expect(outcome).toMatchObject({ kind: 'refused', reason: 'SOURCE_TOO_LARGE' });
  }, 60_000);

  it('is a commit message of two megabytes: refused', async () => {
    const same = await tree(file('a.txt'));
    const commit = await commitTree(same, [base], 'x'.repeat(2_000_000));
    expect(await submit(commit)).toMatchObject({ kind: 'refused', reason: 'SOURCE_TOO_LARGE' });
  });
});

describe('an old history', () => {
  it('has zero-padded modes, odd dates and no e-mail: an honest commit on top is clean', async () => {
    const oldTree = await tree(
      file('a.txt', '0100644'),
      folder('lib', await tree(file('x')), '040000'),
    );
    const text = rawCommit(oldTree, []);
    const oddPeople = text
      .replace('<fixtures@example.invalid> 1704067200 +0000\ncommitter', '<> 0017 -7\ncommitter')
      .replace('committer Kervyxa Fixtures <fixtures@example.invalid>', 'committer nobody');
    const oldest = await writeObject(repository, 'commit', oddPeople);
    const oldBase = await commitTree(oldTree, [oldest]);
    const clean = await tree(file('a.txt'), file('b.txt'), folder('lib', await tree(file('x'))));
    const outcome = await submit(await commitTree(clean, [oldBase]), {}, oldBase);
    expect(outcome).toMatchObject({
      kind: 'fetched',
      source: { isDescendant: true, treeFaults: [], changedFiles: [{ path: 'b.txt' }] },
    });
  });
});

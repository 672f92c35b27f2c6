import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import {
  buildRepository,
  deltaBombPack,
  gitProcessesOf,
  rawCommit,
  rawTree,
  writeBranch,
  writeObject,
} from '@kervyxa/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Intake, IntakeRequest } from '../port.ts';
import { unpack } from '../shared-suite.ts';
import { writeBundleHeader } from './bundle.ts';
import { buriedPacks } from './testing/slow-pack.ts';
import { createWorld, runPlainGit, sha, type World } from './testing/harness.ts';

const { signal } = new AbortController();
const NOISE_BYTES = 300_000;
const IMPORT_ONCE = join(import.meta.dirname, 'testing/import-once.ts');

let world: World;
let repository: string;
let ids: Awaited<ReturnType<typeof buildNoisy>>;

function buildNoisy(folder: string) {
  return buildRepository(folder, {
    commits: [
      { name: 'root', files: { 'old.txt': 'old\n' } },
      {
        name: 'base',
        parents: ['root'],
        files: { noise: randomBytes(NOISE_BYTES), 'a.txt': '1\n' },
      },
      { name: 'fix', parents: ['base'], files: { 'a.txt': '2\n' } },
      { name: 'later', parents: ['fix'], files: { 'b.txt': 'b\n' } },
    ],
    tags: { v1: 'fix' },
  });
}

beforeEach(async () => {
  world = await createWorld();
  repository = join(world.repositories, 'noisy.git');
  ids = await buildNoisy(repository);
});

afterEach(async () => {
  await world.close();
});

function requestFor(commit: string = ids.fix, base: string = ids.base): IntakeRequest {
  const url = world.server.url('noisy.git');
  return { baseRepositoryUrl: url, repositoryUrl: url, baseCommit: sha(base), commit: sha(commit) };
}

function elsewhere(limits = {}): Intake {
  return world.newIntake({ cacheFolder: join(world.root, `cache-${crypto.randomUUID()}`), limits });
}

async function captureOfBase(base: string = ids.base): Promise<Buffer> {
  const opened = await world.intake.openBase(world.server.url('noisy.git'), sha(base), signal);
  const pieces = await Array.fromAsync(opened.exportCapture(signal));
  await opened.close();
  return Buffer.concat(pieces);
}

async function captureOf(request: IntakeRequest): Promise<Buffer> {
  const outcome = await world.intake.fetchCommit(request, signal);
  if (outcome.kind !== 'fetched') throw new Error(outcome.message);
  const pieces = await Array.fromAsync(outcome.source.exportCapture(signal));
  await outcome.source.close();
  return Buffer.concat(pieces);
}

async function* stream(...pieces: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces;
}

/** A capture of a commit that names a base, or none, with these objects of the repository and no other. */
async function bundleOf(objects: readonly string[], commit: string, base: string | null) {
  const header = writeBundleHeader({ commit: sha(commit), base: base === null ? null : sha(base) });
  const child = spawn('git', ['-C', repository, 'pack-objects', '-q', '--stdout'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end(objects.map((id) => `${id}\n`).join(''));
  return Buffer.concat([header, ...(await Array.fromAsync(child.stdout as AsyncIterable<Buffer>))]);
}

const DAMAGED = {
  code: 'INTAKE_CAPTURE_DAMAGED',
  traits: { fault: 'infra', retryable: true },
};

// Keeps R-INTAKE-KEPT.
describe('a commit that was captured', () => {
  it('G15 is rewritten, collected and taken off the network: the next worker judges it as the first', async () => {
    const request = requestFor(ids.later);
    const [base, commit] = [await captureOfBase(), await captureOf(request)];
    await runPlainGit('-C', repository, 'for-each-ref', '--format=delete %(refname)').then((refs) =>
      Promise.all(
        refs
          .trim()
          .split('\n')
          .map((line) => rm(join(repository, line.slice(7)))),
      ),
    );
    await runPlainGit('-C', repository, 'gc', '-q', '--prune=now');
    const intake = elsewhere();
    expect(await intake.fetchCommit(request, signal)).toMatchObject({ kind: 'unavailable' });
    await world.server.close();
    await intake.importBase(request, stream(base), signal);
    await intake.importCommit(request, stream(commit), signal);
    const outcome = await intake.fetchCommit(request, signal);
    if (outcome.kind !== 'fetched') throw new Error(outcome.message);
    expect(outcome.source.changedFiles.map(({ path }) => path)).toEqual(['a.txt', 'b.txt']);
    const tree = await unpack(outcome.source.archive());
    expect(Object.keys(tree)).toEqual(['a.txt', 'b.txt', 'noise', 'old.txt']);
  });

  it('changes little on a large base: its capture is little', async () => {
    expect((await captureOf(requestFor())).length).toBeLessThan(2_000);
    expect((await captureOfBase()).length).toBeGreaterThan(NOISE_BYTES);
  });

  it('gives the same bytes again', async () => {
    expect(await captureOf(requestFor(ids.later))).toEqual(await captureOf(requestFor(ids.later)));
    expect(await captureOfBase()).toEqual(await captureOfBase());
  });

  it('is a bundle that anybody’s git can open', async () => {
    const [base, commit] = [await captureOfBase(), await captureOf(requestFor())];
    const clone = join(world.root, 'clone.git');
    await runPlainGit('init', '-q', '--bare', clone);
    for (const [name, bytes] of Object.entries({ base, commit })) {
      await writeFile(join(world.root, name), bytes);
      const refspec = `refs/kervyxa/commit:refs/heads/${name}`;
      await runPlainGit('-C', clone, 'fetch', '-q', join(world.root, name), refspec);
    }
    expect(await runPlainGit('-C', clone, 'rev-parse', 'commit')).toBe(`${ids.fix}\n`);
    await runPlainGit('-C', clone, 'fsck', '--full', '--strict');
  });

  it('is judged later against another base', async () => {
    const intake = elsewhere();
    const request = requestFor(ids.later, ids.fix);
    await intake.importBase(request, stream(await captureOfBase(ids.fix)), signal);
    await intake.importCommit(request, stream(await captureOf(request)), signal);
    await intake.importBase(requestFor(), stream(await captureOfBase()), signal);
    await world.server.close();
    expect(await intake.fetchCommit(requestFor(ids.later), signal)).toMatchObject({
      source: { changedFiles: [{ path: 'a.txt' }, { path: 'b.txt' }] },
    });
  });

  it('has the malformations of old hosts in its history: taken in as it was fetched', async () => {
    const blob = await writeObject(repository, 'blob', 'x');
    const tree = await writeObject(
      repository,
      'tree',
      rawTree([{ mode: '0100644', name: 'x', id: blob }]),
    );
    const old = rawCommit(tree, []).replace('<fixtures@example.invalid> 1704067200', '<> 0017');
    const oldest = await writeObject(repository, 'commit', old);
    const commit = await writeObject(repository, 'commit', rawCommit(tree, [oldest, ids.base]));
    const intake = elsewhere();
    await intake.importBase(requestFor(), stream(await captureOfBase()), signal);
    await intake.importCommit(
      requestFor(commit),
      stream(await captureOf(requestFor(commit))),
      signal,
    );
    expect(await intake.holdsCommit(requestFor(commit))).toBe(true);
  });
});

// Keeps R-INTAKE-BOUNDED.
describe('a capture from a hostile database', () => {
  const blob = () => writeObject(repository, 'blob', 'x');

  it('lacks a file, a tree or a parent: refused, and nothing of it is kept', async () => {
    const [present, absent] = [await blob(), 'a'.repeat(40)];
    const tree = (id: string) =>
      writeObject(repository, 'tree', rawTree([{ mode: '100644', name: 'x', id }]));
    const commit = (id: string, parents: string[] = []) =>
      writeObject(repository, 'commit', rawCommit(id, parents));
    const [whole, broken] = [await tree(present), await tree(absent)];
    const cases: string[][] = [
      [await commit(broken), broken],
      [await commit(absent)],
      [await commit(whole, [absent]), whole, present],
      // There, but only where the capture was made.
      [await commit(whole, [ids.root]), whole, present],
    ];
    for (const objects of cases) {
      const id = objects[0] ?? '';
      const intake = elsewhere();
      const request = requestFor(ids.fix, id);
      await expect(
        intake.importBase(request, stream(await bundleOf(objects, id, null)), signal),
      ).rejects.toMatchObject(DAMAGED);
      expect(await intake.holdsBase(request)).toBe(false);
    }
  });

  it('has objects that no server may send either: refused', async () => {
    const nameless = (await runPlainGit('-C', repository, 'cat-file', '-p', ids.root)).replace(
      /^author .*\n/m,
      '',
    );
    const id = await writeObject(repository, 'commit', nameless);
    const tree = (await runPlainGit('-C', repository, 'rev-parse', `${ids.root}^{tree}`)).trim();
    const file = (await runPlainGit('-C', repository, 'rev-parse', `${ids.root}:old.txt`)).trim();
    const capture = await bundleOf([id, tree, file], id, null);
    await expect(
      elsewhere().importBase(requestFor(ids.fix, id), stream(capture), signal),
    ).rejects.toMatchObject(DAMAGED);
  });

  it('holds a tag, a tree or a file in the place of the commit: refused', async () => {
    const all = (await runPlainGit('-C', repository, 'rev-list', '--objects', '--all'))
      .split('\n')
      .map((line) => line.slice(0, 40));
    const tree = (await runPlainGit('-C', repository, 'rev-parse', `${ids.fix}^{tree}`)).trim();
    for (const id of [ids['tag:v1'] ?? '', tree, await blob()]) {
      const capture = await bundleOf([...all.filter((each) => each !== ''), id], id, null);
      await expect(
        elsewhere().importBase(requestFor(ids.fix, id), stream(capture), signal),
      ).rejects.toMatchObject(DAMAGED);
    }
  });

  it('BUG-53 names a replace ref, or a shallow base, beside its commit: INTAKE_CAPTURE_DAMAGED', async () => {
    const whole = (await captureOfBase()).toString('latin1');
    const headers = [
      [`${ids.base} refs/`, `${ids.fix} refs/replace/${ids.base}\n${ids.base} refs/`],
      ['# v2 git bundle\n', `# v2 git bundle\n-${ids.root} \n`],
      ['# v2 git bundle\n', '# v3 git bundle\n@filter=blob:none\n'],
    ] as const;
    for (const [before, after] of headers) {
      const intake = elsewhere();
      const capture = Buffer.from(whole.replace(before, after), 'latin1');
      await expect(intake.importBase(requestFor(), stream(capture), signal)).rejects.toMatchObject(
        DAMAGED,
      );
      expect(await intake.holdsBase(requestFor())).toBe(false);
    }
  });

  it('unpacks to gigabytes: stopped by the limits of a fetch', async () => {
    const header = writeBundleHeader({ commit: sha(ids.base), base: null });
    const small = elsewhere({ gitMemoryBytesMax: 512 * 1_048_576 });
    await expect(
      small.importBase(requestFor(), stream(header, deltaBombPack()), signal),
    ).rejects.toMatchObject(DAMAGED);
  });

  it('says that it is over when git has long read it whole: is taken', async () => {
    const capture = await captureOfBase();
    const cacheFolder = join(world.root, 'cache-late');
    const late = async function* (): AsyncGenerator<Uint8Array> {
      yield capture;
      while ((await gitProcessesOf(cacheFolder)).length > 0) await setImmediate();
      yield new Uint8Array();
    };
    const intake = world.newIntake({ cacheFolder });
    await intake.importBase(requestFor(), late(), signal);
    expect(await intake.holdsBase(requestFor())).toBe(true);
  });

  it('has no end: read no further than the limits, and never ahead of git', async () => {
    let bytes = 0;
    const endless = async function* (): AsyncGenerator<Uint8Array> {
      yield writeBundleHeader({ commit: sha(ids.base), base: null });
      // PACK, version 2, one object: a file of 1 TiB, not compressed.
      yield Buffer.from('5041434b0000000200000001b080808080407801', 'hex');
      const block = Buffer.concat([Buffer.from('000080ff7f', 'hex'), randomBytes(32_768)]);
      for (;;) {
        bytes += block.length;
        yield block;
      }
    };
    const packBytesMax = 4 * 1_048_576;
    await expect(
      elsewhere({ packBytesMax }).importBase(requestFor(), endless(), signal),
    ).rejects.toMatchObject(DAMAGED);
    expect(bytes).toBeLessThan(2 * packBytesMax);
  });

  it('has a header without an end: read no further than a header', async () => {
    let pieces = 0;
    const endless = async function* (): AsyncGenerator<Uint8Array> {
      for (;;) {
        pieces += 1;
        yield Buffer.alloc(100, 'x');
      }
    };
    await expect(elsewhere().importBase(requestFor(), endless(), signal)).rejects.toMatchObject(
      DAMAGED,
    );
    expect(pieces).toBeLessThan(10);
  });

  it('builds on a base that is not here: refused until the base is', async () => {
    const [base, commit] = [await captureOfBase(), await captureOf(requestFor())];
    const intake = elsewhere();
    await expect(intake.importCommit(requestFor(), stream(commit), signal)).rejects.toMatchObject(
      DAMAGED,
    );
    await intake.importBase(requestFor(), stream(base), signal);
    await intake.importCommit(requestFor(), stream(commit), signal);
    expect(await intake.holdsCommit(requestFor())).toBe(true);
  });
});

describe('a capture and an accident', () => {
  it('is killed with -9 in the middle of an import: nothing is held, and the next import works', async () => {
    const capture = await captureOfBase();
    const cacheFolder = join(world.root, 'killed');
    const url = world.server.url('noisy.git');
    const child = spawn(
      process.execPath,
      [IMPORT_ONCE, cacheFolder, world.server.origin, url, ids.base],
      { stdio: ['pipe', 'ignore', 'inherit'], env: { PATH: process.env['PATH'] } },
    );
    child.stdin.write(capture.subarray(0, 200_000));
    const attempts = join(cacheFolder, 'v1/tmp');
    const packs = async (): Promise<string[]> => {
      const all = await readdir(attempts, { recursive: true }).catch(() => []);
      return all.filter((name) => name.includes('tmp_pack'));
    };
    for (let begun = await packs(); begun.length === 0;) {
      await new Promise((again) => setTimeout(again, 20));
      begun = await packs();
    }
    child.kill('SIGKILL');
    await once(child, 'exit');
    const intake = world.newIntake({ cacheFolder });
    expect(await intake.holdsBase(requestFor())).toBe(false);
    await intake.importBase(requestFor(), stream(capture), signal);
    expect(await intake.holdsBase(requestFor())).toBe(true);
  });

  it('is taken in twice at once, by two processes: both end right', async () => {
    const capture = await captureOfBase();
    const cacheFolder = join(world.root, 'shared');
    const [one, two] = [world.newIntake({ cacheFolder }), world.newIntake({ cacheFolder })];
    await Promise.all(
      [one, one, two].map((intake) => intake.importBase(requestFor(), stream(capture), signal)),
    );
    expect(await one.holdsBase(requestFor())).toBe(true);
    expect(await readdir(join(cacheFolder, 'v1/tmp'))).toEqual([]);
  });

  it('is aborted while the database is silent: no folder is left', async () => {
    const capture = await captureOfBase();
    const cacheFolder = join(world.root, 'aborted');
    const intake = world.newIntake({ cacheFolder });
    const controller = new AbortController();
    const reason = new Error('interrupted');
    const silent = async function* (): AsyncGenerator<Uint8Array> {
      yield capture.subarray(0, 200_000);
      controller.abort(reason);
      await new Promise(() => undefined);
    };
    await expect(intake.importBase(requestFor(), silent(), controller.signal)).rejects.toBe(reason);
    expect(await readdir(join(cacheFolder, 'v1/tmp'))).toEqual([]);
    expect(await intake.holdsBase(requestFor())).toBe(false);
  });

  it('is written only in part, or not in time: git is gone', async () => {
    const opened = await world.intake.openBase(
      world.server.url('noisy.git'),
      sha(ids.base),
      signal,
    );
    for await (const piece of opened.exportCapture(signal)) {
      expect(piece.length).toBeGreaterThan(0);
      break;
    }
    const controller = new AbortController();
    const pieces = opened.exportCapture(controller.signal)[Symbol.asyncIterator]();
    await pieces.next();
    controller.abort(new Error('interrupted'));
    await expect(pieces.next()).rejects.toThrow('interrupted');
    await opened.close();
  });

  it('is larger than a capture may be: the solver’s doing for a commit, the requester’s for a base', async () => {
    const large = await captureOf(requestFor(ids.base, ids.root));
    expect(large.length).toBeGreaterThan(NOISE_BYTES);
    const small = world.newIntake({ limits: { packBytesMax: 100_000 } });
    const outcome = await small.fetchCommit(requestFor(ids.base, ids.root), signal);
    if (outcome.kind !== 'fetched') throw new Error(outcome.message);
    await expect(Array.fromAsync(outcome.source.exportCapture(signal))).rejects.toMatchObject({
      code: 'INTAKE_CAPTURE_TOO_LARGE',
      traits: { fault: 'candidate' },
    });
    const base = await small.openBase(world.server.url('noisy.git'), sha(ids.base), signal);
    await expect(Array.fromAsync(base.exportCapture(signal))).rejects.toMatchObject({
      code: 'INTAKE_BASE_UNAVAILABLE',
    });
  });

  it('has a history of deltas whose large bases only the base has: it ends with the time for git', async () => {
    const { basePack, base, thinPack, commit } = buriedPacks({
      files: 60,
      baseBytes: 110 * 1_048_576,
    });
    const place = join(repository, 'objects/pack/pack-base.pack');
    await writeFile(place, basePack);
    await runPlainGit('-C', repository, 'index-pack', place);
    await writeBranch(repository, 'slow', base);
    const hostile = await world.startServer({ pack: thinPack });
    const request = { ...requestFor(commit, base), repositoryUrl: hostile.url('noisy.git') };
    const fetched = await world.newIntake().fetchCommit(request, signal);
    expect(fetched.kind).toBe('fetched');
    const hurried = world.newIntake({ limits: { gitCpuSecondsMax: 2 } });
    const outcome = await hurried.fetchCommit(request, signal);
    if (outcome.kind !== 'fetched') throw new Error(outcome.message);
    const exported = Array.fromAsync(outcome.source.exportCapture(signal));
    await expect(exported).rejects.toMatchObject({ code: 'INTAKE_CAPTURE_TOO_LARGE' });
  }, 60_000);

  it('is read from a disk that lost part of it: trouble of ours, and fetched anew', async () => {
    const outcome = await world.intake.fetchCommit(requestFor(), signal);
    if (outcome.kind !== 'fetched') throw new Error(outcome.message);
    const stores = join(world.cacheFolder, 'v1/stores');
    for (const name of await readdir(stores, { recursive: true })) {
      if (!name.endsWith('.pack')) continue;
      const bytes = await readFile(join(stores, name));
      await rm(join(stores, name));
      await writeFile(join(stores, name), bytes.fill(0, bytes.length >> 1));
    }
    await expect(Array.fromAsync(outcome.source.exportCapture(signal))).rejects.toMatchObject({
      code: 'INTAKE_STORE_DAMAGED',
    });
    expect((await captureOf(requestFor())).length).toBeGreaterThan(100);
  });
});

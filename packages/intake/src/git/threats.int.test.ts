import { randomBytes } from 'node:crypto';
import { cp, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import {
  buildRepository,
  deltaBombPack,
  rawCommit,
  startGitServer,
  writeBranch,
  writeObject,
} from '@kervyxa/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FetchedCommit, IntakeOutcome } from '../port.ts';
import { createWorld, runPlainGit, sha, type World } from './testing/harness.ts';

const { signal } = new AbortController();
let world: World;
let ids: Awaited<ReturnType<typeof buildMain>>;

function buildMain(folder: string) {
  return buildRepository(folder, {
    commits: [
      { name: 'root', files: { 'a.txt': '0\n' } },
      { name: 'base', parents: ['root'], files: { 'a.txt': '1\n', 'b.txt': 'b\n' } },
      { name: 'fix', parents: ['base'], files: { 'a.txt': '2\n' } },
      { name: 'tip', parents: ['fix'], files: { 'c.txt': 'c\n' } },
    ],
    branches: { main: 'tip' },
    tags: { v1: 'fix' },
  });
}

beforeAll(async () => {
  world = await createWorld();
  ids = await buildMain(join(world.repositories, 'main.git'));
  await runPlainGit('init', '-q', '--bare', join(world.repositories, 'empty.git'));
});

afterAll(async () => {
  await world.close();
});

/** A fetch with a cache of its own, so that nothing captured earlier answers. */
async function fetchFresh(
  request: { url: string; commit?: string; baseUrl?: string; base?: string },
  limits = {},
  target = world,
): Promise<IntakeOutcome> {
  const cacheFolder = join(target.root, `cache-${crypto.randomUUID()}`);
  const intake = target.newIntake({ cacheFolder, limits });
  return intake.fetchCommit(
    {
      baseRepositoryUrl: request.baseUrl ?? target.server.url('main.git'),
      repositoryUrl: request.url,
      baseCommit: sha(request.base ?? ids.base),
      commit: sha(request.commit ?? ids.fix),
    },
    signal,
  );
}

function fetchedOr(outcome: IntakeOutcome): FetchedCommit {
  if (outcome.kind !== 'fetched') throw new Error(`expected a commit: ${outcome.message}`);
  return outcome.source;
}

// Keeps R-INTAKE-URL.
describe('a URL', () => {
  it('G02 points into the private network: INTAKE_URL_REFUSED, the caller’s fault', async () => {
    const intake = world.newIntake({ allowedOrigins: [world.server.origin] });
    for (const repositoryUrl of ['https://127.0.0.1/r.git', 'https://[::1]/r.git']) {
      const request = {
        baseRepositoryUrl: world.server.url('main.git'),
        repositoryUrl,
        baseCommit: sha(ids.base),
        commit: sha(ids.fix),
      };
      await expect(intake.fetchCommit(request, signal)).rejects.toMatchObject({
        code: 'INTAKE_URL_REFUSED',
        traits: { fault: 'caller' },
        fix: expect.stringContaining('public host'),
      });
    }
  });

  it('G04 has a host with one public and one private address: INTAKE_URL_REFUSED', async () => {
    const intake = world.newIntake({ resolveHost: async () => ['8.8.8.8', '10.0.0.1'] });
    const url = 'https://git.example.com/r.git';
    await expect(intake.openBase(url, sha(ids.base), signal)).rejects.toMatchObject({
      code: 'INTAKE_URL_REFUSED',
      message: expect.stringContaining('10.0.0.1'),
    });
  });

  it('G04 has a host that changes its address after the check: the checked one is used', async () => {
    const connections: string[] = [];
    const listener = createServer((socket) => {
      connections.push(socket.localAddress ?? '');
      socket.destroy();
    });
    await new Promise<void>((listening) => listener.listen(0, '127.0.0.1', listening));
    const address = listener.address();
    const port = address !== null && typeof address === 'object' ? address.port : 0;
    const origin = `http://rebinding.invalid:${port}`;
    const intake = world.newIntake({
      allowedOrigins: [origin],
      resolveHost: async () => ['127.0.0.1'],
    });
    try {
      const opened = intake.openBase(`${origin}/r.git`, sha(ids.base), signal);
      await expect(opened).rejects.toMatchObject({ code: 'INTAKE_BASE_UNAVAILABLE' });
      // The name has no address in the world, so only the pin can have led here.
      expect(connections).toEqual(['127.0.0.1']);
    } finally {
      await new Promise((closed) => listener.close(closed));
    }
  });

  it('G04 has a pinned host: git itself goes to the pinned address too', async () => {
    const port = new URL(world.server.origin).port;
    const origin = `http://rebinding.invalid:${port}`;
    const intake = world.newIntake({
      cacheFolder: join(world.root, 'cache-pin'),
      allowedOrigins: [origin],
      resolveHost: async () => ['127.0.0.1'],
    });
    const base = await intake.openBase(`${origin}/main.git`, sha(ids.base), signal);
    expect(base.paths).toEqual(['a.txt', 'b.txt']);
    await base.close();
  });

  it('has a host whose name server never answers: unreachable, and an abort ends the wait', async () => {
    const resolveHost = () => Promise.withResolvers<string[]>().promise;
    const limits = { stallSecondsMax: 0.2 };
    const url = 'https://silent.invalid/r.git';
    const opened = world
      .newIntake({ resolveHost, limits })
      .openBase(url, sha(ids.base), new AbortController().signal);
    await expect(opened).rejects.toMatchObject({ code: 'INTAKE_BASE_UNAVAILABLE' });
    const controller = new AbortController();
    const reason = new Error('the user gave up');
    const patient = world.newIntake({ resolveHost });
    const waiting = [1, 2].map(() => patient.openBase(url, sha(ids.base), controller.signal));
    controller.abort(reason);
    await Promise.all(waiting.map((each) => expect(each).rejects.toBe(reason)));
  });

  it('has a host that does not resolve: unreachable', async () => {
    const url = 'https://nowhere.invalid/r.git';
    const allow = { resolveHost: () => Promise.reject(new Error('ENOTFOUND')) };
    const outcome = await world.newIntake(allow).fetchCommit(
      {
        baseRepositoryUrl: world.server.url('main.git'),
        repositoryUrl: url,
        baseCommit: sha(ids.base),
        commit: sha(ids.fix),
      },
      signal,
    );
    expect(outcome).toMatchObject({ kind: 'unavailable', reason: 'REPOSITORY_UNREACHABLE' });
  });
});

describe('a server', () => {
  it.each([401, 403, 404, 500])(
    'G09 answers %i to everything: REPOSITORY_UNREACHABLE',
    async (status) => {
      const server = await world.startServer({ status });
      expect(await fetchFresh({ url: server.url('main.git') })).toMatchObject({
        kind: 'unavailable',
        reason: 'REPOSITORY_UNREACHABLE',
        message: expect.stringContaining(String(status)),
      });
    },
  );

  it('G03 redirects to an inside host: not followed, and the final URL is asked for', async () => {
    const inside = await world.startServer({});
    const server = await world.startServer({ redirectTo: inside.origin });
    expect(await fetchFresh({ url: server.url('main.git') })).toMatchObject({
      kind: 'unavailable',
      reason: 'REPOSITORY_UNREACHABLE',
      message: expect.stringContaining('give the final URL'),
    });
    expect(inside.requests).toEqual([]);
  });

  it('G06 is only files, past which git checks no objects: REPOSITORY_UNREACHABLE', async () => {
    const server = await world.startServer({ dumb: true });
    expect(await fetchFresh({ url: server.url('main.git') })).toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('smart HTTP'),
    });
  });

  it('is gone: unreachable', async () => {
    const server = await startGitServer({ root: world.repositories });
    await server.close();
    const intake = world.newIntake({ allowedOrigins: [server.origin, world.server.origin] });
    const request = {
      baseRepositoryUrl: world.server.url('main.git'),
      repositoryUrl: server.url('main.git'),
      baseCommit: sha(ids.base),
      commit: sha(ids.fix),
    };
    expect(await intake.fetchCommit(request, signal)).toMatchObject({
      reason: 'REPOSITORY_UNREACHABLE',
      message: expect.stringContaining('ECONNREFUSED'),
    });
  });

  it('G24 sends a byte now and then: given up', async () => {
    const server = await world.startServer({ bytesPerSecond: 20 });
    const limits = { stallSecondsMax: 1, bytesPerSecondMin: 1_000 };
    expect(await fetchFresh({ url: server.url('main.git') }, limits)).toMatchObject({
      kind: 'unavailable',
      reason: 'REPOSITORY_UNREACHABLE',
    });
  });

  it('G24 accepts the connection and never answers: given up', async () => {
    const server = await world.startServer({ bytesPerSecond: 0 });
    const limits = { stallSecondsMax: 1 };
    expect(await fetchFresh({ url: server.url('main.git') }, limits)).toMatchObject({
      kind: 'unavailable',
      reason: 'REPOSITORY_UNREACHABLE',
    });
  });

  it('G23 sends a pack that never ends: SOURCE_TOO_LARGE when it reaches the limit', async () => {
    const server = await world.startServer({ neverEnds: true });
    const limits = { packBytesMax: 20_000_000 };
    expect(await fetchFresh({ url: server.url('main.git') }, limits)).toMatchObject({
      kind: 'refused',
      reason: 'SOURCE_TOO_LARGE',
    });
  });

  it('G20 sends a delta bomb of 4 GiB in a few kilobytes: SOURCE_TOO_LARGE', async () => {
    const server = await world.startServer({ pack: deltaBombPack() });
    const limits = { gitMemoryBytesMax: 1_000_000_000 };
    expect(await fetchFresh({ url: server.url('main.git') }, limits)).toMatchObject({
      kind: 'refused',
      reason: 'SOURCE_TOO_LARGE',
    });
  });

  it('runs out of its own memory: the host’s trouble, and no fault of the commit', async () => {
    const line = (text: string) => `${(text.length + 4).toString(16).padStart(4, '0')}${text}`;
    const host = createHttpServer((_request, response) => {
      response.setHeader('content-type', 'application/x-git-upload-pack-advertisement');
      response.end(`${line('# service=git-upload-pack\n')}0000${line('ERR fatal: out of memory')}`);
    });
    await new Promise<void>((listening) => host.listen(0, '127.0.0.1', listening));
    const address = host.address();
    const port = address !== null && typeof address === 'object' ? address.port : 0;
    const origin = `http://127.0.0.1:${port}`;
    const intake = world.newIntake({
      cacheFolder: join(world.root, 'cache-memory'),
      allowedOrigins: [origin, world.server.origin],
    });
    try {
      const outcome = await intake.fetchCommit(
        {
          baseRepositoryUrl: world.server.url('main.git'),
          repositoryUrl: `${origin}/r.git`,
          baseCommit: sha(ids.base),
          commit: sha(ids.fix),
        },
        signal,
      );
      expect(outcome).toMatchObject({ kind: 'unavailable', reason: 'REPOSITORY_UNREACHABLE' });
    } finally {
      await new Promise((closed) => host.close(closed));
    }
  });

  it('G26 floods the terminal with escapes: none of it is kept or shown', async () => {
    const server = await world.startServer({ stderrFloodBytes: 3_000_000 });
    const source = fetchedOr(await fetchFresh({ url: server.url('main.git') }));
    expect(source.changedFiles).toHaveLength(1);
  });

  it('G12 BUG-44 drops the Git-Protocol header: found behind a branch, else COMMIT_NOT_FOUND', async () => {
    const server = await world.startServer({ protocolV0: true });
    const source = fetchedOr(await fetchFresh({ url: server.url('main.git') }));
    expect(source.commit).toBe(ids.fix);
    expect(await fetchFresh({ url: server.url('main.git'), commit: 'e'.repeat(40) })).toMatchObject(
      { kind: 'unavailable', reason: 'COMMIT_NOT_FOUND' },
    );
  });

  it('G17 serves a shallow clone: ANCESTRY_UNKNOWN, never "no"', async () => {
    const shallow = join(world.repositories, 'shallow.git');
    await runPlainGit('clone', '-q', '--bare', '--depth=1', world.server.url('main.git'), shallow);
    expect(
      await fetchFresh({ url: world.server.url('shallow.git'), commit: ids.tip }),
    ).toMatchObject({ kind: 'unavailable', reason: 'ANCESTRY_UNKNOWN' });
  });
});

// Keeps R-INTAKE-EXACT.
describe('a commit id', () => {
  it.each([
    ['tag', async () => ids['tag:v1'] ?? '', () => `peel it: ${ids.fix}`],
    ['tree', () => treeOf(ids.fix), () => 'that of a tree'],
    ['blob', () => parseInMain(`${ids.fix}:a.txt`), () => 'that of a blob'],
  ])('G13 names a %s: COMMIT_NOT_FOUND, and it says what it is', async (_type, id, message) => {
    expect(
      await fetchFresh({ url: world.server.url('main.git'), commit: await id() }),
    ).toMatchObject({
      kind: 'unavailable',
      reason: 'COMMIT_NOT_FOUND',
      message: expect.stringContaining(message()),
    });
  });

  it('G10 is the name of a branch that points elsewhere: the commit counts, not the branch', async () => {
    const trap = join(world.repositories, 'trap.git');
    await cp(mainPath(), trap, { recursive: true });
    await writeBranch(trap, ids.fix, ids.tip);
    await writeFile(join(trap, 'HEAD'), `ref: refs/heads/${ids.fix}\n`);
    for (const server of [world.server, await world.startServer({ protocolV0: true })]) {
      const source = fetchedOr(await fetchFresh({ url: server.url('trap.git') }));
      expect(source.changedFiles.map(({ path }) => path)).toEqual(['a.txt']);
    }
  });

  it('G11 is in the requester’s repository, but not at the submitted URL: COMMIT_NOT_FOUND', async () => {
    const baseUrl = world.server.url('main.git');
    const url = world.server.url('empty.git');
    for (const commit of [ids.fix, ids.base, ids.root]) {
      // The mirror of this base holds every one of them already.
      expect(await fetchFresh({ url, baseUrl, base: ids.tip, commit })).toMatchObject({
        kind: 'unavailable',
        reason: 'COMMIT_NOT_FOUND',
      });
    }
  });

  it('G11 is in what a store of its URL builds on, which is from elsewhere: COMMIT_NOT_FOUND', async () => {
    const folder = join(world.repositories, 'elsewhere.git');
    const { own } = await buildRepository(folder, {
      commits: [{ name: 'own', files: { 'own.txt': 'x\n' } }],
    });
    const intake = world.newIntake({ cacheFolder: join(world.root, 'cache-chain') });
    const request = {
      baseRepositoryUrl: world.server.url('main.git'),
      repositoryUrl: world.server.url('elsewhere.git'),
      baseCommit: sha(ids.tip),
      commit: sha(own),
    };
    fetchedOr(await intake.fetchCommit(request, signal));
    // With the base away, the store of that commit is the only seed, and its own seed holds what is asked for.
    const away = await world.startServer({ status: 500 });
    const asked = { ...request, baseRepositoryUrl: away.url('main.git'), commit: sha(ids.fix) };
    const later = world.newIntake({ cacheFolder: join(world.root, 'cache-chain') });
    expect(await later.fetchCommit(asked, signal)).toMatchObject({ reason: 'COMMIT_NOT_FOUND' });
  });

  it('is older than the base, at a URL that has it: fetched, and no descendant', async () => {
    const other = join(world.repositories, 'older.git');
    await buildRepository(other, {
      commits: [{ name: 'root', files: { 'a.txt': '0\n' } }],
      branches: { main: 'root' },
    });
    const url = world.server.url('older.git');
    const source = fetchedOr(await fetchFresh({ url, base: ids.tip, commit: ids.root }));
    expect(source.isDescendant).toBe(false);
  });
});

describe('a base beyond the limits', () => {
  let heavy: { readonly base: string; readonly fix: string };

  beforeAll(async () => {
    heavy = await buildRepository(join(world.repositories, 'heavy.git'), {
      commits: [
        { name: 'base', files: { noise: randomBytes(300_000) } },
        { name: 'fix', parents: ['base'], files: { 'a.txt': '2\n' } },
      ],
    });
  });

  it('has a history larger than any fetch may be: no solver fails for it', async () => {
    const url = world.server.url('heavy.git');
    const request = { url, baseUrl: url, base: heavy.base, commit: heavy.fix };
    expect(await fetchFresh(request, { packBytesMax: 100_000 })).toMatchObject({
      kind: 'unavailable',
      reason: 'SETUP_FAILED_AT_BASE',
    });
  });

  it('can’t be had, and the commit is too large with its history: it may be the base’s', async () => {
    const away = await world.startServer({ status: 500 });
    const url = world.server.url('heavy.git');
    const request = { url, baseUrl: away.url('heavy.git'), base: heavy.base, commit: heavy.fix };
    expect(await fetchFresh(request, { packBytesMax: 100_000 })).toMatchObject({
      kind: 'unavailable',
      reason: 'REPOSITORY_UNREACHABLE',
    });
  });
});

describe('a history', () => {
  it('G18 replaces an orphan by a descendant with refs/replace: still no descendant', async () => {
    const folder = join(world.repositories, 'replaced.git');
    await cp(mainPath(), folder, { recursive: true });
    const orphan = await writeObject(folder, 'commit', rawCommit(await treeOf(ids.tip), []));
    await writeBranch(folder, 'orphan', orphan);
    await mkdir(join(folder, 'refs/replace'), { recursive: true });
    await writeFile(join(folder, 'refs/replace', orphan), `${ids.tip}\n`);
    for (const server of [world.server, await world.startServer({ protocolV0: true })]) {
      const url = server.url('replaced.git');
      const source = fetchedOr(await fetchFresh({ url, commit: orphan }));
      expect(source.isDescendant).toBe(false);
    }
  });

  it('holds the base while the requester’s own repository is away: that is enough', async () => {
    const away = await world.startServer({ status: 500 });
    const baseUrl = away.url('main.git');
    const source = fetchedOr(await fetchFresh({ url: world.server.url('main.git'), baseUrl }));
    expect(source.changedFiles.map(({ path }) => path)).toEqual(['a.txt']);
    const elsewhere = await fetchFresh({
      url: world.server.url('older.git'),
      baseUrl,
      commit: ids.root,
    });
    expect(elsewhere).toMatchObject({
      kind: 'unavailable',
      reason: 'REPOSITORY_UNREACHABLE',
      message: expect.stringContaining('base commit'),
    });
  });
});

// Keeps R-INTAKE-KEPT.
describe('a captured commit', () => {
  it('G15 survives a force-push and the deletion of the repository', async () => {
    const name = 'pushed.git';
    await cp(mainPath(), join(world.repositories, name), { recursive: true });
    const request = {
      baseRepositoryUrl: world.server.url('main.git'),
      repositoryUrl: world.server.url(name),
      baseCommit: sha(ids.base),
      commit: sha(ids.fix),
    };
    const before = fetchedOr(await world.intake.fetchCommit(request, signal));
    await rename(join(world.repositories, name), join(world.root, 'gone'));
    await rm(join(world.root, 'gone'), { recursive: true });
    const after = fetchedOr(await world.intake.fetchCommit(request, signal));
    expect(after.changedFiles).toEqual(before.changedFiles);
    const other = { ...request, commit: sha(ids.tip) };
    expect(await world.intake.fetchCommit(other, signal)).toMatchObject({ kind: 'unavailable' });
  });

  it('leaves no unfinished attempt, and no folder for a commit that was not found', async () => {
    const url = world.server.url('empty.git');
    const intake = world.newIntake({ cacheFolder: join(world.root, 'cache-clean') });
    const request = {
      baseRepositoryUrl: url,
      repositoryUrl: url,
      baseCommit: sha(ids.base),
      commit: sha(ids.fix),
    };
    expect(await intake.fetchCommit(request, signal)).toMatchObject({ kind: 'unavailable' });
    expect(await readdir(join(world.root, 'cache-clean/v1/tmp'))).toEqual([]);
    expect(await readdir(join(world.root, 'cache-clean/v1/stores'))).toEqual([]);
  });
});

async function parseInMain(name: string): Promise<string> {
  return (await runPlainGit('-C', mainPath(), 'rev-parse', '--verify', name)).trim();
}

function treeOf(commit: string): Promise<string> {
  return parseInMain(`${commit}^{tree}`);
}

function mainPath(): string {
  return join(world.repositories, 'main.git');
}

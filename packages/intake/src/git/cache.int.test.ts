import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Clock } from '@kervyxa/core';
import { buildRepository, gitProcessesOf } from '@kervyxa/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FetchedCommit, Intake, IntakeRequest } from '../port.ts';
import { unpack } from '../shared-suite.ts';
import { createWorld, sha, type World } from './testing/harness.ts';

const { signal } = new AbortController();
const NOISE_BYTES = 300_000;
const FETCH_ONCE = join(import.meta.dirname, 'testing/fetch-once.ts');

let world: World;
let ids: Awaited<ReturnType<typeof buildNoisy>>;

function buildNoisy(folder: string) {
  return buildRepository(folder, {
    commits: [
      { name: 'base', files: { noise: randomBytes(NOISE_BYTES), 'a.txt': '1\n' } },
      { name: 'fix', parents: ['base'], files: { 'a.txt': '2\n' } },
      { name: 'later', parents: ['fix'], files: { 'b.txt': 'b\n' } },
    ],
  });
}

beforeEach(async () => {
  world = await createWorld();
  ids = await buildNoisy(join(world.repositories, 'noisy.git'));
});

afterEach(async () => {
  const left = await gitProcessesOf(world.root);
  await world.close();
  if (left.length > 0) throw new Error(`expected no git process, got ${left.join(', ')}`);
});

function requestFor(
  commit: 'base' | 'fix' | 'later',
  base: 'base' | 'fix' = 'base',
): IntakeRequest {
  const url = world.server.url('noisy.git');
  return {
    baseRepositoryUrl: url,
    repositoryUrl: url,
    baseCommit: sha(ids[base]),
    commit: sha(ids[commit]),
  };
}

async function fetched(
  request: IntakeRequest,
  intake: Intake = world.intake,
): Promise<FetchedCommit> {
  const outcome = await intake.fetchCommit(request, signal);
  if (outcome.kind !== 'fetched') throw new Error(outcome.message);
  return outcome.source;
}

/** Bytes of packs that the server has sent so far. */
function packBytes(): number {
  const packs = world.server.requests.filter(({ target }) => target.endsWith('upload-pack'));
  return packs.reduce((sum, { responseBytes }) => sum + responseBytes, 0);
}

function startFetchOnce(
  commit: 'fix' | 'later',
  server = world.server,
): ChildProcessByStdio<null, Readable, null> {
  const url = server.url('noisy.git');
  return spawn(
    process.execPath,
    [FETCH_ONCE, world.cacheFolder, server.origin, url, ids.base, ids[commit]],
    { stdio: ['ignore', 'pipe', 'inherit'], env: { PATH: process.env['PATH'] } },
  );
}

describe('a warm cache', () => {
  it('fetches only the objects that are new', async () => {
    await (await fetched(requestFor('fix'))).close();
    const cold = packBytes();
    expect(cold).toBeGreaterThan(NOISE_BYTES);
    const source = await fetched(requestFor('later'));
    expect(packBytes() - cold).toBeLessThan(5_000);
    expect(Object.keys(await unpack(source.archive()))).toEqual(['a.txt', 'b.txt', 'noise']);
  });

  it('fetches a later base of the same repository on top of the earlier one', async () => {
    await fetched(requestFor('base'));
    const before = packBytes();
    const source = await fetched(requestFor('later', 'fix'));
    expect(packBytes() - before).toBeLessThan(10_000);
    expect(source.changedFiles.map(({ path }) => path)).toEqual(['b.txt']);
  });

  it('asks no server for what it has captured', async () => {
    await fetched(requestFor('fix'));
    const asked = world.server.requests.length;
    const source = await fetched(requestFor('fix'), world.newIntake());
    expect(world.server.requests).toHaveLength(asked);
    expect(source.changedFiles.map(({ path }) => path)).toEqual(['a.txt']);
  });

  it('judges a captured commit against another base than the one it was captured on', async () => {
    await fetched(requestFor('later', 'base'));
    const source = await fetched(requestFor('later', 'fix'));
    expect(source.changedFiles.map(({ path }) => path)).toEqual(['b.txt']);
    expect((await fetched(requestFor('base', 'fix'))).isDescendant).toBe(false);
  });

  it('fetches a base once for many submissions at the same time', async () => {
    const commits = ['fix', 'later', 'fix', 'later'] as const;
    await Promise.all(commits.map((commit) => fetched(requestFor(commit))));
    expect(packBytes()).toBeLessThan(2 * NOISE_BYTES);
  });
});

describe('two processes on one cache', () => {
  it('both get their commit', async () => {
    const children = [startFetchOnce('fix'), startFetchOnce('fix'), startFetchOnce('later')];
    const printed = await Promise.all(children.map(({ stdout }) => text(stdout)));
    expect(printed).toEqual(['fetched 1\n', 'fetched 1\n', 'fetched 2\n']);
    expect(await world.attempts()).toEqual([]);
  });

  it('is killed with -9 in the middle of a fetch: the cache stays usable', async () => {
    const slow = await world.startServer({ bytesPerSecond: 100_000 });
    const child = startFetchOnce('fix', slow);
    const exited = once(child, 'exit');
    await slow.requested('/git-upload-pack');
    child.kill('SIGKILL');
    await exited;
    expect(await world.attempts()).toHaveLength(1);
    await slow.close();
    const source = await fetched(requestFor('fix'));
    expect(source.changedFiles).toHaveLength(1);
    await waitUntilGone(world.root);
  });
});

async function waitUntilGone(folder: string): Promise<void> {
  for (let left = await gitProcessesOf(folder); left.length > 0;) {
    await new Promise((again) => setTimeout(again, 20));
    left = await gitProcessesOf(folder);
  }
}

describe('an abort', () => {
  it('G25 in the middle of a fetch leaves no folder and no git behind', async () => {
    const stalled = await world.startServer({ bytesPerSecond: 100_000 });
    const url = stalled.url('noisy.git');
    const intake = world.newIntake();
    const controller = new AbortController();
    const request = { ...requestFor('fix'), baseRepositoryUrl: url, repositoryUrl: url };
    const running = intake.fetchCommit(request, controller.signal);
    await stalled.requested('/git-upload-pack');
    const reason = new Error('interrupted');
    controller.abort(reason);
    await expect(running).rejects.toBe(reason);
    expect(await gitProcessesOf(world.root)).toEqual([]);
    expect(await world.attempts()).toEqual([]);
  });

  it('in the middle of an archive ends the stream and its git', async () => {
    const source = await fetched(requestFor('fix'));
    const controller = new AbortController();
    const pieces = source.archive().open(controller.signal)[Symbol.asyncIterator]();
    await pieces.next();
    controller.abort(new Error('interrupted'));
    const rest = async (): Promise<void> => {
      while ((await pieces.next()).done !== true);
    };
    await expect(rest()).rejects.toThrow('interrupted');
    expect(await gitProcessesOf(world.root)).toEqual([]);
  });

  it('is not needed to stop reading an archive half-way', async () => {
    const source = await fetched(requestFor('fix'));
    for await (const piece of source.archive().open(signal)) {
      expect(piece.length).toBeGreaterThan(0);
      break;
    }
    expect(await gitProcessesOf(world.root)).toEqual([]);
  });
});

describe('the bound of the cache', () => {
  const storesOf = async (): Promise<string[]> => {
    const all = await readdir(join(world.cacheFolder, 'v1/stores'), { recursive: true });
    return all.filter((name) => /\/[0-9a-f]{40}\.git$/.test(name));
  };
  const atHour = (hours: number): Clock => ({
    now: () => new Date(Date.now() + hours * 3_600_000),
    monotonicMs: () => performance.now(),
  });

  it('evicts what was used longest ago, with what builds on it', async () => {
    await fetched(requestFor('fix'));
    expect(await storesOf()).toHaveLength(2);
    const small = world.newIntake({ limits: { cacheBytesMax: 1_000 }, clock: atHour(1) });
    await buildNoisy(join(world.repositories, 'other.git'));
    const opened = await small.openBase(world.server.url('noisy.git'), sha(ids.later), signal);
    await opened.close();
    expect(await storesOf()).toEqual([expect.stringContaining(ids.later)]);
  });

  it('spares what is in use, however small the bound', async () => {
    const source = await fetched(requestFor('fix'));
    const small = world.newIntake({ limits: { cacheBytesMax: 0 } });
    await fetched(requestFor('later'), small);
    expect(Object.keys(await unpack(source.archive()))).toEqual(['a.txt', 'noise']);
  });

  it('clears away what a killed process left, and not what is running', async () => {
    await fetched(requestFor('fix'));
    const attempts = join(world.cacheFolder, 'v1/tmp');
    for (const name of ['old', 'new']) await writeFile(join(attempts, name), '');
    const longAgo = new Date(Date.now() - 24 * 3_600_000);
    await utimes(join(attempts, 'old'), longAgo, longAgo);
    await fetched(requestFor('later'));
    expect(await world.attempts()).toEqual(['new']);
  });
});

describe('a damaged store', () => {
  it('has a flipped bit in a tree: no commit is too large for it', async () => {
    await fetched(requestFor('fix'));
    const stores = join(world.cacheFolder, 'v1/stores');
    for (const name of await readdir(stores, { recursive: true })) {
      if (!name.includes(ids.fix) || !name.endsWith('.pack')) continue;
      const bytes = await readFile(join(stores, name));
      // Trees and files come after the commit.
      for (let at = Math.floor(bytes.length / 2); at < bytes.length; at += 1) bytes[at] = 0;
      await rm(join(stores, name));
      await writeFile(join(stores, name), bytes);
    }
    await expect(world.intake.fetchCommit(requestFor('fix'), signal)).rejects.toMatchObject({
      code: 'INTAKE_STORE_DAMAGED',
    });
    expect((await fetched(requestFor('fix'))).changedFiles).toHaveLength(1);
  });

  it('was what a captured commit builds on: that commit is fetched anew over it', async () => {
    const fork = await world.startServer({});
    const submitted = { repositoryUrl: fork.url('noisy.git') };
    await fetched({ ...requestFor('later', 'base'), ...submitted }, world.newIntake());
    const stores = join(world.cacheFolder, 'v1/stores');
    for (const name of await readdir(stores, { recursive: true })) {
      if (name.endsWith(`${ids.base}.git`)) await rm(join(stores, name), { recursive: true });
    }
    const source = await fetched(
      { ...requestFor('later', 'fix'), ...submitted },
      world.newIntake(),
    );
    expect(source.changedFiles).toHaveLength(1);
  });

  it('has facts that a crash has cut off: fetched anew, and nothing else is kept from it', async () => {
    await fetched(requestFor('fix'));
    const stores = join(world.cacheFolder, 'v1/stores');
    for (const name of await readdir(stores, { recursive: true })) {
      if (name.endsWith('kervyxa.json')) await writeFile(join(stores, name), '');
    }
    expect((await fetched(requestFor('later'))).changedFiles).toHaveLength(2);
  });

  it('is our trouble and not the solver’s, and the next try fetches anew', async () => {
    await fetched(requestFor('fix'));
    const stores = join(world.cacheFolder, 'v1/stores');
    for (const name of await readdir(stores, { recursive: true })) {
      if (name.endsWith('.pack')) await writeFile(join(stores, name), 'damaged');
    }
    await expect(world.intake.fetchCommit(requestFor('fix'), signal)).rejects.toMatchObject({
      code: 'INTAKE_STORE_DAMAGED',
      traits: { fault: 'infra', retryable: true },
    });
    expect((await fetched(requestFor('fix'))).changedFiles).toHaveLength(1);
  });
});

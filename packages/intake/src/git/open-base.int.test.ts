import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildRepository } from '@kervyxa/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGitIntake } from './index.ts';
import { createWorld, runPlainGit, sha, type World } from './testing/harness.ts';

const { signal } = new AbortController();
let world: World;
let bare: string;
let ids: { readonly base: string };
let tag: string;

beforeAll(async () => {
  world = await createWorld();
  bare = join(world.root, 'local.git');
  const built = await buildRepository(bare, {
    commits: [
      { name: 'base', files: { 'a.txt': 'one\n', 'dir/b': 'two\n', l: { symlink: 'a.txt' } } },
    ],
    tags: { v1: 'base' },
  });
  ids = built;
  tag = built['tag:v1'] ?? '';
});

afterAll(async () => {
  await world.close();
});

describe('a local repository', () => {
  it('opens as a bare folder, a clone and a worktree', async () => {
    const clone = join(world.root, 'clone');
    const worktree = join(world.root, 'worktree');
    await runPlainGit('clone', '-q', bare, clone);
    await runPlainGit('-C', clone, 'worktree', 'add', '-q', '--detach', worktree, ids.base);
    for (const path of [bare, clone, worktree]) {
      const base = await world.intake.openBase(path, sha(ids.base), signal);
      expect(base.paths).toEqual(['a.txt', 'dir/b', 'l']);
      expect(base.links).toEqual(new Map([['l', 'a.txt']]));
      expect(Buffer.from((await base.readFile('dir/b', 4)) ?? []).toString()).toBe('two\n');
      expect(await base.readFile('l', 100)).toBeNull();
      await base.close();
    }
  });

  it('is not there, or has no such commit: the caller is told', async () => {
    const plain = join(world.root, 'plain');
    await mkdir(plain);
    await writeFile(join(plain, 'a.txt'), '');
    for (const [path, id] of [
      [plain, ids.base],
      [join(plain, 'a.txt'), ids.base],
      [join(world.root, 'nowhere'), ids.base],
      [bare, 'e'.repeat(40)],
      [bare, tag],
    ] as const) {
      await expect(world.intake.openBase(path, sha(id), signal)).rejects.toMatchObject({
        code: 'INTAKE_BASE_UNAVAILABLE',
        traits: { fault: 'caller' },
      });
    }
  });
});

it('lacks the objects of its files, as a partial clone does: the caller is told', async () => {
  const partial = join(world.root, 'partial.git');
  await runPlainGit('-C', bare, 'config', 'uploadpack.allowFilter', 'true');
  await runPlainGit('clone', '-q', '--bare', '--filter=blob:none', `file://${bare}`, partial);
  await expect(world.intake.openBase(partial, sha(ids.base), signal)).rejects.toMatchObject({
    code: 'INTAKE_BASE_UNAVAILABLE',
    traits: { fault: 'caller' },
  });
});

it('tells the version of git', async () => {
  const intake = createGitIntake({
    cacheFolder: world.cacheFolder,
    allowedOrigins: [],
    clock: { now: () => new Date(0), monotonicMs: () => 0 },
  });
  const facts = await intake.gitVersion(signal);
  expect(facts.version).toMatch(/^\d+\.\d+\.\d+$/);
  expect(['fixed', 'backport_unknown']).toContain(facts.status);
});

import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { sealTree, type TreeArchive, type TreeEntry, type TreeLimits } from '@kervyxa/core';
import { depsError } from './errors.ts';
import { NPMRC, writeNpmCache, type LockedTarball } from './npm-cache.ts';
import type { Wheel } from './simple-index.ts';

export interface FetchedWheel {
  readonly wheel: Wheel;
  readonly content: Buffer;
}

/** Pip's configuration in a container. */
const PIP_CONF = `[global]
no-index = true
find-links = /kervyxa/deps/pip
no-cache-dir = true
disable-pip-version-check = true
`;

/**
 * What of a bundle is laid out in $HOME, link by link, before every run: the limit leaves room in a run's /tmp, which
 * holds 16,384 names.
 */
const HOME_ENTRIES_MAX = 14_000;

/**
 * Lays tarballs and wheels out as npm's cache and pip's folder, each with its configuration, in a temporary folder that
 * is removed whatever happens, and seals it.
 *
 * Throws DEPS_TOO_LARGE, DEPS_STORAGE_FAILED.
 */
export async function sealBundle(
  content: {
    readonly tarballs: readonly LockedTarball[];
    readonly wheels: readonly FetchedWheel[];
  },
  limits: TreeLimits,
): Promise<TreeArchive> {
  const folder = await storing(() => mkdtemp(join(tmpdir(), 'kervyxa-deps-')));
  try {
    const entries = await storing(async () => {
      await layOut(folder, content);
      return readEntries(folder);
    });
    assertFits(entries, limits);
    return await sealTree(entries.toSorted((a, b) => keyOf(a).compare(keyOf(b))));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function layOut(
  folder: string,
  { tarballs, wheels }: Parameters<typeof sealBundle>[0],
): Promise<void> {
  await writeFile(join(folder, 'npmrc'), NPMRC);
  await writeFile(join(folder, 'pip.conf'), PIP_CONF);
  await mkdir(join(folder, 'pip'));
  for (const { wheel, content } of wheels) {
    await writeFile(join(folder, 'pip', wheel.fileName), content, { flag: 'wx' });
  }
  const cache = join(folder, 'home/.npm/_cacache');
  await mkdir(cache, { recursive: true });
  await writeNpmCache(cache, tarballs);
  // Where npm's cache keeps what it has not finished.
  await rm(join(cache, 'tmp'), { recursive: true, force: true });
}

async function readEntries(folder: string): Promise<TreeEntry[]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  return Promise.all(
    found.map(async (each): Promise<TreeEntry> => {
      const full = join(each.parentPath, each.name);
      const path = relative(folder, full).replaceAll(sep, '/');
      if (each.isDirectory()) return { type: 'folder', path };
      const content = await readFile(full);
      return { type: 'file', path, executable: false, size: content.length, content };
    }),
  );
}

/** Sorts as a walk goes: a folder, then what is in it. No name holds a NUL. */
function keyOf({ path }: TreeEntry): Buffer {
  return Buffer.from(path.replaceAll('/', '\0'));
}

function assertFits(entries: readonly TreeEntry[], { entriesMax, bytesMax }: TreeLimits): void {
  const inHome = entries.filter(({ path }) => path.startsWith('home/')).length;
  const bytes = entries.reduce((sum, each) => sum + (each.type === 'file' ? each.size : 0), 0);
  if (inHome <= HOME_ENTRIES_MAX && entries.length <= entriesMax && bytes <= bytesMax) return;
  throw depsError('DEPS_TOO_LARGE', {
    message: `expected a bundle of at most ${bytesMax} bytes in ${entriesMax} files and folders, ${HOME_ENTRIES_MAX} of them for npm, got ${bytes}, ${entries.length} and ${inHome}`,
    fix: 'leave out packages that the contract does not need; one of npm takes about ten files and folders',
  });
}

async function storing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw depsError('DEPS_STORAGE_FAILED', {
      message: `expected to lay the packages out below ${tmpdir()}, got ${cause instanceof Error ? cause.message : String(cause)}`,
      fix: 'look at the free space and the permissions there, or name another folder in TMPDIR',
      cause,
    });
  }
}

import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { BUNDLE_LIMITS, sealTree, type TreeArchive, type TreeEntry } from '@kervyxa/core';
import { depsError } from './errors.ts';

/**
 * What of a bundle is laid out in $HOME, link by link, before every run: the limit leaves room in a run's /tmp, which
 * holds 16,384 names.
 */
const HOME_ENTRIES_MAX = 14_000;

/**
 * Seals a folder of regular files as a bundle: any files of equal names and bytes give the same archive.
 *
 * Throws DEPS_TOO_LARGE.
 */
export async function sealFolder(folder: string): Promise<TreeArchive> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const entries = await Promise.all(
    found.map(async (each): Promise<TreeEntry> => {
      const full = join(each.parentPath, each.name);
      const path = relative(folder, full).replaceAll(sep, '/');
      if (each.isDirectory()) return { type: 'folder', path };
      const content = await readFile(full);
      return { type: 'file', path, executable: false, size: content.length, content };
    }),
  );
  assertFits(entries);
  return sealTree(entries.toSorted((a, b) => keyOf(a).compare(keyOf(b))));
}

/** Sorts as a walk goes: a folder, then what is in it. No name holds a NUL. */
function keyOf({ path }: TreeEntry): Buffer {
  return Buffer.from(path.replaceAll('/', '\0'));
}

function assertFits(entries: readonly TreeEntry[]): void {
  const inHome = entries.filter(({ path }) => path.startsWith('home/')).length;
  if (inHome > HOME_ENTRIES_MAX || entries.length > BUNDLE_LIMITS.entriesMax) {
    throw depsError('DEPS_TOO_LARGE', {
      message: `expected a bundle of at most ${HOME_ENTRIES_MAX} files and folders for npm and ${BUNDLE_LIMITS.entriesMax} in all, got ${inHome} and ${entries.length}`,
      fix: 'leave out packages that the contract does not need: an npm package takes about five',
    });
  }
}

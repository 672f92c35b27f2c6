import { randomBytes } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { toPrintable } from '@kervyxa/core';
import type { FixedFile, FolderFiles } from '@kervyxa/checker';
import { cliError } from '../errors.ts';
import { makeFolder } from './own-folder.ts';

/**
 * Writes the files of a new package into a folder that is not there yet, or empty, and over nothing.
 *
 * Throws CLI_FOLDER_REFUSED, CLI_FOLDER_UNWRITABLE.
 */
export function writeNewFolder(folder: string, files: FolderFiles): void {
  // Without a trailing slash, which would have lstat look through a link.
  const path = resolve(folder);
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found !== undefined && !found.isDirectory()) {
    throw refused(folder, found.isSymbolicLink() ? 'a link' : 'a file');
  }
  if (found !== undefined && readdirSync(path).length > 0) {
    throw refused(folder, 'one that holds something');
  }
  try {
    makeFolder(path);
    for (const [name, content] of files) {
      mkdirSync(dirname(join(path, name)), { recursive: true });
      writeFileSync(join(path, name), content, { flag: 'wx' });
    }
  } catch (cause) {
    throw unwritable(folder, cause);
  }
}

/**
 * Puts another content in the place of a file: who looks meanwhile sees the old or the new one. It keeps its mode.
 *
 * Throws CLI_FOLDER_UNWRITABLE.
 */
export async function replaceFile(folder: string, { path, content }: FixedFile): Promise<void> {
  const file = join(folder, path);
  const part = join(dirname(file), `.kervyxa-${randomBytes(8).toString('hex')}`);
  try {
    const { mode } = await stat(file);
    try {
      const handle = await open(part, 'wx', mode & 0o777);
      try {
        await handle.writeFile(content);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(part, file);
    } finally {
      await rm(part, { force: true });
    }
  } catch (cause) {
    throw unwritable(file, cause);
  }
}

function refused(folder: string, found: string): Error {
  return cliError('CLI_FOLDER_REFUSED', {
    message: `expected a new or empty folder at ${toPrintable(folder, 300)}, got ${found}`,
    fix: 'Name a folder that does not exist yet: nothing is ever written over.',
  });
}

function unwritable(path: string, cause: unknown): Error {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
  return cliError('CLI_FOLDER_UNWRITABLE', {
    message: `expected to write to ${toPrintable(path, 300)}, got ${toPrintable(code, 100)}`,
    fix: 'Look at its permissions and the free space there.',
    cause,
  });
}

import { isUtf8 } from 'node:buffer';
import { constants } from 'node:fs';
import { open, readdir, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { toPrintable, type TreeEntry } from '@kervyxa/core';
import { createIntakeError } from '../errors.ts';
import { pathProblem } from '../tree/names.ts';
import {
  PACKAGE_LIMITS,
  refused,
  sealPackage,
  tooLarge,
  type PackageLimits,
  type VerifierPackage,
} from './seal.ts';

/**
 * Reads the hidden package from its folder: regular files and folders, in byte order of their names, with fixed owner
 * and times, so that equal folders have equal digests everywhere.
 *
 * Throws INTAKE_PACKAGE_UNREADABLE, INTAKE_PACKAGE_ENTRY_REFUSED, INTAKE_PACKAGE_TOO_LARGE.
 */
export async function loadVerifierPackage(
  folder: string,
  limits: PackageLimits = PACKAGE_LIMITS,
): Promise<VerifierPackage> {
  return sealPackage(await Array.fromAsync(walkFolder(folder, limits)));
}

/** The entries of a folder in the order of a sealed archive, one file's content in memory at a time. */
export function walkFolder(folder: string, limits: PackageLimits): AsyncGenerator<TreeEntry> {
  return walk(folder, '', limits, { entries: 0, bytes: 0 });
}

async function* walk(
  root: string,
  below: string,
  limits: PackageLimits,
  used: { entries: number; bytes: number },
): AsyncGenerator<TreeEntry> {
  for (const name of await namesIn(join(root, below))) {
    const path = below === '' ? name : `${below}/${name}`;
    const problem = pathProblem(path);
    if (problem !== null) throw refused(path, problem);
    used.entries += 1;
    if (used.entries > limits.entriesMax) throw tooLarge(`${limits.entriesMax} files and folders`);
    const handle = await openEntry(join(root, path), path);
    try {
      const facts = await handle.stat();
      if (facts.isDirectory()) {
        yield { type: 'folder', path };
        yield* walk(root, path, limits, used);
      } else if (facts.isFile()) {
        const content = await readAtMost(handle, limits.bytesMax - used.bytes);
        if (content === null) throw tooLarge(`${limits.bytesMax} bytes`);
        used.bytes += content.length;
        const executable = (facts.mode & 0o100) !== 0;
        yield { type: 'file', path, executable, size: content.length, content };
      } else throw refused(path, 'is neither a regular file nor a folder');
    } finally {
      await handle.close();
    }
  }
}

async function namesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder, { encoding: 'buffer' }).catch((error: unknown) => {
    throw unreadable(folder, error);
  });
  return names
    .toSorted((a, b) => a.compare(b))
    .map((bytes) => {
      const name = bytes.toString();
      if (!isUtf8(bytes)) throw refused(name, 'is not UTF-8');
      return name;
    });
}

/** Never through a link, and without waiting for the other end of a pipe. */
async function openEntry(full: string, path: string): Promise<FileHandle> {
  try {
    return await open(full, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ELOOP') throw refused(path, 'is a symbolic link');
    if (code === 'ENXIO') throw refused(path, 'is neither a regular file nor a folder');
    throw unreadable(path, error);
  }
}

/** The whole file, or null where it has more bytes; a file that grows meanwhile is cut off by the limit too. */
async function readAtMost(handle: FileHandle, bytesMax: number): Promise<Buffer | null> {
  const pieces: Buffer[] = [];
  let total = 0;
  const stream = handle.createReadStream({ autoClose: false, end: bytesMax });
  for await (const piece of stream as AsyncIterable<Buffer>) {
    pieces.push(piece);
    total += piece.length;
  }
  return total <= bytesMax ? Buffer.concat(pieces) : null;
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'nothing is there',
  ENOTDIR: 'it is no folder',
  EACCES: 'it may not be read',
};

function codeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error ? String(error.code) : null;
}

function unreadable(path: string, cause: unknown): Error {
  const code = codeOf(cause);
  const why = REASONS[code ?? ''] ?? code ?? String(cause);
  return createIntakeError('INTAKE_PACKAGE_UNREADABLE', {
    message: `expected a package that can be read, but ${toPrintable(path, 300)} can't be: ${toPrintable(why, 100)}`,
    fix: 'check the folder and its permissions',
    cause,
  });
}

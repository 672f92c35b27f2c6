import { access, constants, mkdtemp, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { isAppError, toPrintable, type TreeArchive } from '@kervyxa/core';
import { cliError } from '../errors.ts';

/**
 * Says before the work whether its result could be put there: into a folder that is there and can be written to, and
 * over nothing but a file; and never into the folder that is packed, which would hold it the next time.
 *
 * Throws CLI_OUTPUT_REFUSED and CLI_OUTPUT_UNWRITABLE.
 */
export async function assertWritable(file: string, packed?: string): Promise<void> {
  if (packed !== undefined && isWithin(resolve(file), resolve(packed))) {
    throw refused(file, 'a place in the folder that is packed');
  }
  await writing(file, async () => {
    const folder = dirname(resolve(file));
    const found = await stat(folder).catch(ignoreMissing);
    if (found?.isDirectory() !== true)
      throw refused(file, `no such folder: ${toPrintable(folder, 300)}`);
    await access(folder, constants.W_OK | constants.X_OK);
    const old = await stat(file).catch(ignoreMissing);
    if (old?.isDirectory() === true) throw refused(file, 'a folder');
    if (old !== null && !old.isFile()) throw refused(file, 'something that is no file');
  });
}

/**
 * Writes an archive beside its place and moves it there when it is whole: whoever looks sees the old file or the new
 * one. Answers its bytes. After a failure or an abort nothing of it is left.
 *
 * Throws CLI_OUTPUT_UNWRITABLE, and the signal's reason after an abort.
 */
export async function writeArchiveFile(
  file: string,
  archive: TreeArchive,
  signal: AbortSignal,
): Promise<number> {
  return writing(
    file,
    async () => {
      const folder = await mkdtemp(join(dirname(resolve(file)), '.kervyxa-'));
      try {
        const part = join(folder, 'archive');
        const sizeBytes = await writeTo(part, archive, signal);
        await rename(part, file);
        return sizeBytes;
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
    signal,
  );
}

async function writeTo(part: string, archive: TreeArchive, signal: AbortSignal): Promise<number> {
  const handle = await open(part, 'wx');
  try {
    let sizeBytes = 0;
    for await (const piece of archive.open(signal)) {
      signal.throwIfAborted();
      await handle.writeFile(piece);
      sizeBytes += piece.length;
    }
    await handle.sync();
    return sizeBytes;
  } finally {
    await handle.close();
  }
}

async function writing<T>(file: string, write: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  try {
    return await write();
  } catch (error) {
    signal?.throwIfAborted();
    if (isAppError(error) || !(error instanceof Error && 'code' in error)) throw error;
    const code = String(error.code);
    throw unwritable(file, code === 'ENOENT' ? 'no such folder (ENOENT)' : code, error);
  }
}

function isWithin(path: string, folder: string): boolean {
  return path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

function refused(file: string, got: string): Error {
  return cliError('CLI_OUTPUT_REFUSED', {
    message: `expected ${toPrintable(file, 300)} to be a file or no file yet, got ${got}`,
    fix: 'Give -o the path of a file, in a folder that is there and is not packed itself.',
  });
}

function unwritable(file: string, got: string, cause?: unknown): Error {
  return cliError('CLI_OUTPUT_UNWRITABLE', {
    message: `expected to write ${toPrintable(file, 300)}, got ${got}`,
    fix: 'Look at its folder, the permissions and the free space there, or give -o another file.',
    cause,
  });
}

function ignoreMissing(error: unknown): null {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  if (code === 'ENOENT' || code === 'ENOTDIR') return null;
  throw error;
}

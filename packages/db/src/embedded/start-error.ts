import { isAppError } from '@kervyxa/core';
import { createDbError } from '../errors.ts';
import { isErrno } from './errno.ts';
import type { Layout } from './layout.ts';

/** A failed call of the system, in words of ours; any other error as it is. */
export function toFolderError(error: unknown, { folder }: Layout): unknown {
  if (isAppError(error) || !(error instanceof Error)) return error;
  if (isErrno(error, 'ENOSPC', 'EDQUOT')) return diskFull(error.message);
  if (!isErrno(error, 'EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST')) return error;
  return createDbError('DB_EMBEDDED_UNSUPPORTED', {
    message: `expected a folder that we may write, got ${error.message} for ${folder}`,
    fix: 'Run as the user that owns it, or set KERVYXA_HOME to a folder of your own.',
    cause: error,
  });
}

const FULL = /No space left on device|Disk quota exceeded/;

/** What the server or initdb said before it gave up. The one place that reads their words. */
export function toStartError(output: string): Error {
  const full = output.split('\n').find((line) => FULL.test(line));
  if (full !== undefined) return diskFull(full.trim());
  const lines = output.trim().split('\n').slice(-5).join(' | ');
  return createDbError('DB_EMBEDDED_FAILED', {
    message: `expected the built-in PostgreSQL to start, got: ${lines || 'no word from it'}`,
    fix: 'Put right what it says, or set DATABASE_URL to a PostgreSQL of your own.',
  });
}

/** A start that may succeed in a moment: processes of a server that was killed are still about to end. */
export function isPassing(output: string): boolean {
  return /pre-existing shared memory block .* is still in use|lock file .* already exists/.test(
    output,
  );
}

function diskFull(what: string): Error {
  return createDbError('DB_EMBEDDED_DISK_FULL', {
    message: `expected room for the built-in PostgreSQL, got: ${what}`,
    fix: 'Free some space, or set KERVYXA_HOME to a folder on another disk.',
  });
}

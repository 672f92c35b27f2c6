import { open } from 'node:fs/promises';
import type { NamedText } from '@kervyxa/deps';
import { toPrintable } from '@kervyxa/core';
import { cliError } from '../errors.ts';
import { toCause } from './contract-file.ts';

/** More than any lock file that could be packed. */
const BYTES_MAX = 64 * 1_048_576;

/** Reads a lock file or requirements, however endless the file is. Throws CLI_FILE_UNREADABLE. */
export async function loadTextFile(path: string): Promise<NamedText> {
  try {
    const file = await open(path, 'r');
    try {
      const pieces: Buffer[] = [];
      for await (const piece of file.createReadStream({ autoClose: false, end: BYTES_MAX })) {
        pieces.push(piece);
      }
      const bytes = Buffer.concat(pieces);
      if (bytes.length > BYTES_MAX) throw unreadable(path, `more than ${BYTES_MAX} bytes`);
      return { name: path, text: bytes.toString() };
    } finally {
      await file.close();
    }
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'CLI_FILE_UNREADABLE') {
      throw cause;
    }
    throw unreadable(path, toCause(cause), cause);
  }
}

function unreadable(path: string, got: string, cause?: unknown): Error {
  return cliError('CLI_FILE_UNREADABLE', {
    message: `expected a readable file at ${toPrintable(path, 300)}, got ${got}`,
    fix: 'Give the path of a file that npm or pip-compile wrote.',
    cause,
  });
}

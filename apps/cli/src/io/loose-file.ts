import { open } from 'node:fs/promises';
import { toPrintable } from '@kervyxa/core';
import { cliError } from '../errors.ts';
import { toCause } from './contract-file.ts';

/** What an API takes of one entry. */
const BYTES_MAX = 64 * 1_048_576;

/** The bytes of a file, however endless it is. Throws CLI_FILE_UNREADABLE. */
export async function loadFile(path: string): Promise<Uint8Array> {
  const content = await readAtMost(path).catch((cause: unknown) => {
    throw unreadable(path, toCause(cause), cause);
  });
  if (content.length <= BYTES_MAX) return content;
  throw unreadable(path, `more than ${BYTES_MAX} bytes`);
}

/** A JSON value of a file. Throws CLI_FILE_UNREADABLE. */
export async function loadJsonFile(path: string): Promise<unknown> {
  const content = await loadFile(path);
  try {
    return JSON.parse(Buffer.from(content).toString());
  } catch (cause) {
    throw unreadable(path, 'what is no JSON', cause);
  }
}

async function readAtMost(path: string): Promise<Uint8Array> {
  await using file = await open(path, 'r');
  const pieces: Buffer[] = [];
  for await (const piece of file.createReadStream({ autoClose: false, end: BYTES_MAX }))
    pieces.push(piece);
  return Buffer.concat(pieces);
}

function unreadable(path: string, got: string, cause?: unknown): Error {
  return cliError('CLI_FILE_UNREADABLE', {
    message: `expected a readable file at ${toPrintable(path, 300)}, got ${got}`,
    fix: 'Give the path of a file.',
    cause,
  });
}

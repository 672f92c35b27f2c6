import { open } from 'node:fs/promises';
import { toPrintable } from '@kervyxa/core';
import type { Host } from '../host.ts';
import { cliError } from '../errors.ts';

/** One byte more than the contract package accepts is enough to have it refuse the size itself. */
const BYTES_MAX = 1024 * 1024 + 1;

export interface ContractFile {
  /** As the user named it. */
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly format: 'json' | 'yaml';
}

/**
 * Reads a contract from a file, or from standard input for `-`; never more than the largest contract and one byte,
 * however endless the file is. YAML by the file's extension, JSON otherwise.
 *
 * Throws CLI_FILE_UNREADABLE.
 */
export async function loadContractFile(
  path: string,
  host: Pick<Host, 'stdin'>,
): Promise<ContractFile> {
  const name = path === '-' ? 'standard input' : path;
  try {
    const bytes = path === '-' ? await readHead(host.stdin) : await readFileHead(path);
    return { name, bytes, format: /\.ya?ml$/i.test(path) ? 'yaml' : 'json' };
  } catch (cause) {
    throw cliError('CLI_FILE_UNREADABLE', {
      message: `expected a readable contract file at ${toPrintable(name)}, got ${toCause(cause)}`,
      fix: 'Give the path of a .json, .yaml or .yml file, or - for standard input.',
      cause,
    });
  }
}

async function readFileHead(path: string): Promise<Uint8Array> {
  const file = await open(path, 'r');
  try {
    return await readHead(file.createReadStream({ autoClose: false, end: BYTES_MAX - 1 }));
  } finally {
    await file.close();
  }
}

async function readHead(stream: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= BYTES_MAX) break;
  }
  return Buffer.concat(chunks).subarray(0, BYTES_MAX);
}

const CAUSES: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  EACCES: 'no permission to read it',
  EISDIR: 'a folder',
  ENOTDIR: 'a path that leads through a file',
  ELOOP: 'a link that leads to itself',
};

/** What kept a file from being read, in words. */
export function toCause(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'an unknown error';
  return CAUSES[code] ?? code;
}

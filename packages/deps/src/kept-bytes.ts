import cacache from 'cacache';
import { toPrintable } from '@kervyxa/core';
import { depsError } from './errors.ts';
import { fetchBytes, type FetchRequest } from './fetch-bytes.ts';
import type { NpmOptions } from './npm-options.ts';

export interface KeptRequest extends Omit<FetchRequest, 'url' | 'integrity'> {
  readonly integrity: string;
  /** Where to fetch it from; asked only where it is not kept. */
  readonly find: () => Promise<string>;
}

/**
 * Bytes of a known hash: from npm's cache, or fetched and then kept there, so that a command that was ended goes on
 * where it was.
 *
 * Throws DEPS_STORAGE_FAILED and what `fetchBytes` and `find` throw.
 */
export async function fetchKept(
  request: KeptRequest,
  npm: NpmOptions,
  signal: AbortSignal,
): Promise<Buffer> {
  const { integrity, what, bytesMax, find } = request;
  const kept = await readKept(npm.cache, integrity);
  if (kept !== null && kept.length <= bytesMax) return kept;
  const bytes = await fetchBytes({ ...request, url: await find() }, npm, signal);
  await keep(npm.cache, integrity, bytes).catch((cause: unknown) => {
    throw depsError('DEPS_STORAGE_FAILED', {
      message: `expected to keep ${what} in npm\u2019s cache, got ${toPrintable(String(cause), 300)}`,
      fix: 'look at the free space and the permissions of the folder that "npm config get cache" names',
      cause,
    });
  });
  return bytes;
}

/** Null where it is not in the cache, or not whole. */
async function readKept(cache: string, integrity: string): Promise<Buffer | null> {
  try {
    return await cacache.get.byDigest(cache, integrity);
  } catch (error) {
    // Whatever is wrong with it, it is fetched; a cache that can't be used is told about then.
    if (error instanceof Error && 'code' in error) return null;
    throw error;
  }
}

async function keep(cache: string, integrity: string, bytes: Buffer): Promise<void> {
  const [algorithm = 'sha512'] = integrity.split('-', 1);
  const options: cacache.put.Options = { integrity, algorithms: [algorithm] };
  await cacache.put(cache, `kervyxa:${integrity}`, bytes, options);
}

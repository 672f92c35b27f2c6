import { toPrintable } from '@kervyxa/core';
import { z } from 'zod';
import { depsError } from './errors.ts';
import { fetchBytes } from './fetch-bytes.ts';
import { fetchKept } from './kept-bytes.ts';
import type { LockedPackage } from './lockfile.ts';
import { PACKUMENT_ACCEPT } from './npm-cache.ts';
import type { NpmOptions } from './npm-options.ts';

const PACKUMENT_BYTES_MAX = 128 * 1_048_576;
// The registry's own document, which has more in it than is looked at here.
const PackumentSchema = z.looseObject({
  versions: z.record(
    z.string(),
    z.looseObject({ dist: z.looseObject({ tarball: z.string() }).optional() }),
  ),
});

/**
 * The tarball of one locked package, with exactly the bytes that the lock file names: from npm's cache where it is
 * there, and then nothing is asked of the network; what comes from there is kept in npm's cache.
 *
 * Throws DEPS_STORAGE_FAILED and what `fetchBytes` throws.
 */
export async function fetchTarball(
  locked: LockedPackage,
  bytesMax: number,
  npm: NpmOptions,
  signal: AbortSignal,
): Promise<Buffer> {
  const { name, version, integrity } = locked;
  const find = async () => locked.resolved ?? (await findTarball(locked, npm, signal));
  return fetchKept({ what: `${name}@${version}`, integrity, bytesMax, find }, npm, signal);
}

/** Where the registry has the tarball, for lock files that leave it to the registry. */
async function findTarball(
  { name, version }: LockedPackage,
  npm: NpmOptions,
  signal: AbortSignal,
): Promise<string> {
  const ofScope = npm[`${name.split('/', 1)[0] ?? ''}:registry`];
  const registry = name.startsWith('@') && typeof ofScope === 'string' ? ofScope : npm.registry;
  const url = `${registry.replace(/\/+$/, '')}/${name.replace('/', '%2f')}`;
  const bytes = await fetchBytes(
    {
      url,
      what: `the versions of ${name}`,
      integrity: null,
      headers: { accept: PACKUMENT_ACCEPT },
      bytesMax: PACKUMENT_BYTES_MAX,
    },
    npm,
    signal,
  );
  const { versions } = parsePackument(bytes, name);
  const tarball = Object.hasOwn(versions, version) ? versions[version]?.dist?.tarball : undefined;
  if (tarball !== undefined && /^https?:\/\//i.test(tarball)) return tarball;
  throw depsError('DEPS_NOT_FOUND', {
    message: `expected ${name}@${version} at the registry, got ${Object.keys(versions).length} other versions`,
    fix: 'look at the registry setting (npm config get registry), or lock a version that is there',
  });
}

function parsePackument(bytes: Buffer, name: string): z.infer<typeof PackumentSchema> {
  try {
    return PackumentSchema.parse(JSON.parse(bytes.toString()));
  } catch (cause) {
    throw depsError('DEPS_REGISTRY_UNAVAILABLE', {
      message: `expected the registry to tell the versions of ${name}, got ${toPrintable(bytes.toString('utf8', 0, 100), 100)}`,
      fix: 'look at the registry setting: npm config get registry',
      cause,
    });
  }
}

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BUNDLE_LIMITS } from '@kervyxa/core';
import type { DependencyBundle, PackedPackage, PackProgress, PackRequest } from './bundle.ts';
import { sealFolder } from './bundle-tree.ts';
import { depsError } from './errors.ts';
import { parseLockfile, type LockedPackage } from './lockfile.ts';
import { compare, keyOf, NPMRC, writeNpmCache, type LockedTarball } from './npm-cache.ts';
import { loadNpmOptions, type NpmOptions, type NpmPlace } from './npm-options.ts';
import { fetchTarball } from './npm-tarball.ts';

export interface PackOptions {
  /** Whose configuration of npm and pip counts. */
  readonly place: NpmPlace;
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: PackProgress) => void;
}

const DOWNLOADS_AT_ONCE = 8;

/**
 * Packs what lock files and requirements pin: the same pins, in files of whatever order, give the same bytes on every
 * machine.
 *
 * 1. The files are read; what is not pinned, or not from a registry, is refused.
 * 2. Every tarball and wheel is fetched, and held against its hash.
 * 3. They are laid out as npm's cache and pip's folder, in a temporary folder that is removed whatever happens.
 * 4. The folder is sealed.
 *
 * Throws DEPS_* errors, and the signal's reason after an abort.
 */
export async function packDependencies(
  request: PackRequest,
  options: PackOptions,
): Promise<DependencyBundle> {
  const locked = mergeLockfiles(request);
  const npm = await loadNpmOptions(options.place, options.signal);
  const tarballs = await fetchAll(locked, npm, options);
  const archive = await seal(tarballs);
  return { sha256: archive.digest, archive, packages: tarballs.map(toPackedPackage) };
}

/** Every package once, in an order that does not depend on that of the files. */
function mergeLockfiles({ lockfiles }: PackRequest): LockedPackage[] {
  const all = new Map<string, LockedPackage>();
  for (const locked of lockfiles.flatMap(parseLockfile)) {
    const key = keyOf(locked);
    // Where one file names an address and another does not, the address saves a question.
    if ((all.get(key)?.resolved ?? null) === null) all.set(key, locked);
  }
  return [...all.values()].toSorted((a, b) => compare(keyOf(a), keyOf(b)));
}

async function fetchAll(
  packages: readonly LockedPackage[],
  npm: NpmOptions,
  { signal, onProgress = () => undefined }: PackOptions,
): Promise<LockedTarball[]> {
  // The first failure ends the other downloads.
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  const tarballs: LockedTarball[] = [];
  const waiting = packages.entries();
  let [bytes, packagesDone] = [0, 0];
  const report = () => onProgress({ packagesDone, packagesTotal: packages.length, bytes });
  const work = async (): Promise<void> => {
    for (const [index, locked] of waiting) {
      const content = await fetchTarball(locked, BUNDLE_LIMITS.bytesMax - bytes, npm, either);
      tarballs[index] = { locked, content };
      bytes += content.length;
      packagesDone += 1;
      if (bytes > BUNDLE_LIMITS.bytesMax) throw tooLarge();
      report();
    }
  };
  report();
  const workers = Array.from({ length: DOWNLOADS_AT_ONCE }, () =>
    work().catch((error: unknown) => {
      failed.abort(error);
      throw error;
    }),
  );
  await Promise.allSettled(workers);
  signal.throwIfAborted();
  failed.signal.throwIfAborted();
  return tarballs;
}

function tooLarge(): Error {
  return depsError('DEPS_TOO_LARGE', {
    message: `expected packages of at most ${BUNDLE_LIMITS.bytesMax} bytes in all, got more`,
    fix: 'leave out packages that the contract does not need',
  });
}

async function seal(tarballs: readonly LockedTarball[]): Promise<DependencyBundle['archive']> {
  const folder = await mkdtemp(join(tmpdir(), 'kervyxa-deps-'));
  try {
    await writeFile(join(folder, 'npmrc'), NPMRC);
    const cache = join(folder, 'home/.npm/_cacache');
    await mkdir(cache, { recursive: true });
    await writeNpmCache(cache, tarballs);
    // Where npm put what it had not finished.
    await rm(join(cache, 'tmp'), { recursive: true, force: true });
    return await sealFolder(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function toPackedPackage({ locked, content }: LockedTarball): PackedPackage {
  const { name, version, integrity } = locked;
  return { kind: 'npm', name, version, integrity, sizeBytes: content.length };
}

import { BUNDLE_LIMITS, toPrintable, type TreeLimits } from '@kervyxa/core';
import type {
  DependencyBundle,
  NamedText,
  PackedPackage,
  PackProgress,
  PackRequest,
} from './bundle.ts';
import { sealBundle, type FetchedWheel } from './bundle-tree.ts';
import { depsError } from './errors.ts';
import { fetchKept } from './kept-bytes.ts';
import { parseLockfile, type LockedPackage } from './lockfile.ts';
import { compare, keyOf, type LockedTarball } from './npm-cache.ts';
import { loadNpmOptions, type NpmOptions, type NpmPlace } from './npm-options.ts';
import { fetchTarball } from './npm-tarball.ts';
import { parseRequirements, type Requirement } from './requirements.ts';
import { findWheels, toPythonIndex, type Wheel } from './simple-index.ts';

export interface PackOptions {
  /** Whose configuration of npm and pip counts. */
  readonly place: NpmPlace;
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: PackProgress) => void;
  /** BUNDLE_LIMITS where left out. */
  readonly limits?: TreeLimits;
}

const DOWNLOADS_AT_ONCE = 8;
/** A run's /tmp has 64 MiB. */
const LOOKED_UP_BYTES_MAX = 48 * 1_048_576;

/**
 * Packs what lock files and requirements pin: the same pins, in files of whatever order, give the same bytes on every
 * machine.
 *
 * 1. The files are read; what is not pinned, or not from a registry, is refused.
 * 2. Every tarball and wheel is fetched, and held against its hash.
 * 3. They are laid out as npm's cache and pip's folder, and sealed.
 *
 * Throws DEPS_* errors, and the signal's reason after an abort; nothing but npm's cache keeps anything of it.
 */
export async function packDependencies(
  request: PackRequest,
  options: PackOptions,
): Promise<DependencyBundle> {
  const files = request.lockfiles.map((file) => ({ file, packages: parseLockfile(file) }));
  const locked = mergePackages(files.flatMap(({ packages }) => packages));
  const required = mergeRequirements(request);
  const npm = await loadNpmOptions(options.place, options.signal);
  const wheels = await findAllWheels(required, npm, locked.length + required.length, options);
  const fetched = await fetchAll({ locked, wheels }, npm, options);
  for (const { file, packages } of files) assertLookedUpFit(file, packages, fetched);
  const archive = await sealBundle(fetched, options.limits ?? BUNDLE_LIMITS);
  return { sha256: archive.digest, archive, packages: toPackedPackages(fetched) };
}

/** Every package once, in an order that does not depend on that of the files. */
function mergePackages(packages: readonly LockedPackage[]): LockedPackage[] {
  const all = new Map<string, LockedPackage>();
  for (const locked of packages) {
    const key = keyOf(locked);
    // Where one file names an address and another does not, the address saves a question.
    if ((all.get(key)?.resolved ?? null) === null) all.set(key, locked);
  }
  return [...all.values()].toSorted((a, b) => compare(keyOf(a), keyOf(b)));
}

function mergeRequirements({ requirements }: PackRequest): Requirement[] {
  const all = requirements.flatMap(parseRequirements);
  return all.toSorted((a, b) => compare(`${a.name} ${a.version}`, `${b.name} ${b.version}`));
}

async function findAllWheels(
  required: readonly Requirement[],
  npm: NpmOptions,
  packagesTotal: number,
  { place, signal, onProgress = () => undefined }: PackOptions,
): Promise<Wheel[]> {
  if (required.length === 0) return [];
  const index = toPythonIndex(place.env);
  const found = await sideBySide(
    required.map((each) => ({
      what: `the files of ${each.name}`,
      run: (either) => findWheels(each, index, npm, either),
    })),
    {
      signal,
      onWait: (waitingFor) => onProgress({ packagesDone: 0, packagesTotal, bytes: 0, waitingFor }),
    },
  );
  const byName = new Map(found.flat().map((wheel) => [wheel.fileName, wheel]));
  return [...byName.values()].toSorted((a, b) => compare(a.fileName, b.fileName));
}

interface Fetched {
  readonly tarballs: readonly LockedTarball[];
  readonly wheels: readonly FetchedWheel[];
}

async function fetchAll(
  { locked, wheels }: { locked: readonly LockedPackage[]; wheels: readonly Wheel[] },
  npm: NpmOptions,
  { signal, onProgress = () => undefined, limits = BUNDLE_LIMITS }: PackOptions,
): Promise<Fetched> {
  const packagesTotal = locked.length + wheels.length;
  let [bytes, packagesDone] = [0, 0];
  let waitingFor: string | null = null;
  const room = () => limits.bytesMax - bytes;
  const report = () => onProgress({ packagesDone, packagesTotal, bytes, waitingFor });
  const take = (content: Buffer): Buffer => {
    bytes += content.length;
    packagesDone += 1;
    if (room() < 0) throw tooLarge(limits);
    return content;
  };
  report();
  const contents = await sideBySide(
    [
      ...locked.map((each) => ({
        what: `${each.name}@${each.version}`,
        run: async (either: AbortSignal) => take(await fetchTarball(each, room(), npm, either)),
      })),
      ...wheels.map(({ url, fileName: what, integrity, headers }) => ({
        what,
        run: async (either: AbortSignal) => {
          const request = { what, integrity, headers, bytesMax: room(), find: async () => url };
          return take(await fetchKept(request, npm, either));
        },
      })),
    ],
    {
      signal,
      onWait: (what) => {
        waitingFor = what;
        report();
      },
    },
  );
  const contentAt = (index: number): Buffer => contents[index] ?? Buffer.alloc(0);
  return {
    tarballs: locked.map((each, at) => ({ locked: each, content: contentAt(at) })),
    wheels: wheels.map((wheel, at) => ({ wheel, content: contentAt(locked.length + at) })),
  };
}

interface Task<T> {
  readonly what: string;
  readonly run: (signal: AbortSignal) => Promise<T>;
}

interface SideBySideOptions {
  readonly signal: AbortSignal;
  /** Told of the task that has run the longest, each time that one begins or ends. */
  readonly onWait: (what: string | null) => void;
}

/** Results in the order of the tasks, a few of which run at once; the first failure ends the others. */
async function sideBySide<T>(
  tasks: readonly Task<T>[],
  { signal, onWait }: SideBySideOptions,
): Promise<T[]> {
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  const results: T[] = [];
  const waiting = tasks.entries();
  const running = new Set<string>();
  const tell = () => onWait(running.values().next().value ?? null);
  const work = async (): Promise<void> => {
    for (const [index, { what, run }] of waiting) {
      running.add(what);
      tell();
      results[index] = await run(either);
      running.delete(what);
      tell();
    }
  };
  await Promise.all(
    Array.from({ length: DOWNLOADS_AT_ONCE }, () =>
      work().catch((error: unknown) => failed.abort(error)),
    ),
  );
  signal.throwIfAborted();
  failed.signal.throwIfAborted();
  return results;
}

function tooLarge({ bytesMax }: TreeLimits): Error {
  return depsError('DEPS_TOO_LARGE', {
    message: `expected packages of at most ${bytesMax} bytes in all, got more`,
    fix: 'leave out packages that the contract does not need',
  });
}

/** What npm has no address of it copies to a run's /tmp, all of it at once. */
function assertLookedUpFit(
  { name }: NamedText,
  packages: readonly LockedPackage[],
  { tarballs }: Fetched,
): void {
  const sizes = new Map(tarballs.map(({ locked, content }) => [keyOf(locked), content.length]));
  const lookedUp = new Set(packages.filter(({ isAddressed }) => !isAddressed).map(keyOf));
  const bytes = [...lookedUp].reduce((sum, key) => sum + (sizes.get(key) ?? 0), 0);
  if (bytes <= LOOKED_UP_BYTES_MAX) return;
  throw depsError('DEPS_TOO_LARGE', {
    message: `expected at most ${LOOKED_UP_BYTES_MAX} bytes of packages without an address in ${toPrintable(name, 300)}, got ${bytes}`,
    fix: 'let npm write the addresses: npm install --package-lock-only --omit-lockfile-registry-resolved=false; https://registry.invalid/ in place of their host will do',
  });
}

function toPackedPackages({ tarballs, wheels }: Fetched): PackedPackage[] {
  return [
    ...tarballs.map(({ locked, content }) => toPackedPackage('npm', locked, content)),
    ...wheels.map(({ wheel, content }) => toPackedPackage('python', wheel, content)),
  ];
}

function toPackedPackage(
  kind: PackedPackage['kind'],
  { name, version, integrity }: LockedPackage | Wheel,
  content: Buffer,
): PackedPackage {
  return { kind, name, version, integrity, sizeBytes: content.length };
}

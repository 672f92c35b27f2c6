import { toPrintable } from '@kervyxa/core';
import ssri from 'ssri';
import { z } from 'zod';
import type { NamedText } from './bundle.ts';
import { depsError } from './errors.ts';

/** One version of one package as a lock file pins it. */
export interface LockedPackage {
  readonly name: string;
  readonly version: string;
  /** The strongest hash of the lock file's. */
  readonly integrity: string;
  /** Where the tarball can be fetched; null where that is left to the registry. */
  readonly resolved: string | null;
  /** The lock file has an address, and be it one that can't exist: npm then looks the tarball up by its hash alone. */
  readonly isAddressed: boolean;
}

// Npm's own file, which has more in it than is looked at here.
const EntrySchema = z.looseObject({
  name: z.string().optional(),
  version: z.string().optional(),
  resolved: z.union([z.string(), z.boolean()]).optional(),
  integrity: z.string().optional(),
  link: z.boolean().optional(),
  inBundle: z.boolean().optional(),
  os: z.union([z.string(), z.array(z.string())]).optional(),
  cpu: z.union([z.string(), z.array(z.string())]).optional(),
});
type Entry = z.infer<typeof EntrySchema>;
const LockfileSchema = z.looseObject({
  lockfileVersion: z.number(),
  packages: z.record(z.string(), EntrySchema).optional(),
});

const NODE_MODULES = 'node_modules/';
const NAME = /^(?:@[\w.~-]+\/)?[\w.~!'()*-]{1,214}$/;
const VERSION = /^\d{1,16}\.\d{1,16}\.\d{1,16}(?:[-+][0-9A-Za-z.+-]{1,200})?$/;

/**
 * The tarballs that `npm ci` installs from a lock file on Linux, x64 or arm64, whatever the C library; development,
 * optional and peer dependencies included. What lies in the repository itself (workspaces, links) and what comes inside
 * another tarball needs none. Pure.
 *
 * Throws DEPS_LOCKFILE_INVALID, DEPS_PACKAGE_UNPINNED, DEPS_SOURCE_REFUSED.
 */
export function parseLockfile(file: NamedText): LockedPackage[] {
  return Object.entries(parsePackages(file))
    .filter(([path, entry]) => isInstalled(path, entry))
    .map(([path, entry]) => toLockedPackage(path, entry, file.name));
}

function parsePackages({ name, text }: NamedText): Record<string, Entry> {
  const shown = toPrintable(name, 300);
  const invalid = (got: string, fix: string, cause?: unknown): Error =>
    depsError('DEPS_LOCKFILE_INVALID', {
      message: `expected ${shown} to be a package-lock.json of lockfileVersion 2 or 3, got ${got}`,
      fix,
      cause,
    });
  const again = 'let npm write it: npm install --package-lock-only';
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (cause) {
    throw invalid('no JSON', again, cause);
  }
  const parsed = LockfileSchema.safeParse(document);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const place = issue?.path.join(' › ') ?? '';
    throw invalid(`another form${place === '' ? '' : ` at ${toPrintable(place, 200)}`}`, again);
  }
  const { lockfileVersion, packages } = parsed.data;
  if (lockfileVersion < 2 || lockfileVersion > 3 || packages === undefined) {
    const fix = 'let npm write it anew: npm install --package-lock-only --lockfile-version 3';
    throw invalid(`version ${lockfileVersion}`, fix);
  }
  return packages;
}

function isInstalled(path: string, entry: Entry): boolean {
  // The root, and folders of workspaces and of linked packages.
  if (!`/${path}`.includes(`/${NODE_MODULES}`)) return false;
  if (entry.link === true || entry.inBundle === true) return false;
  return allows(entry.os, ['linux']) && allows(entry.cpu, ['x64', 'arm64']);
}

/** Npm's rule: any of the plain ones, none of those with an exclamation mark. */
function allows(rule: string | string[] | undefined, values: readonly string[]): boolean {
  const list = rule === undefined ? [] : [rule].flat();
  const plain = list.filter((each) => !each.startsWith('!'));
  return values.some(
    (value) =>
      !list.includes(`!${value}`) &&
      (plain.length === 0 || plain.includes(value) || plain.includes('any')),
  );
}

function toLockedPackage(path: string, entry: Entry, file: string): LockedPackage {
  const name = entry.name ?? path.slice(path.lastIndexOf(NODE_MODULES) + NODE_MODULES.length);
  const place = `${toPrintable(path, 300)} in ${toPrintable(file, 300)}`;
  const resolved = typeof entry.resolved === 'string' ? entry.resolved : null;
  if (resolved !== null && !(/^https?:\/\//i.test(resolved) && URL.canParse(resolved))) {
    throw depsError('DEPS_SOURCE_REFUSED', {
      message: `expected packages from a registry, but ${place} comes from ${toPrintable(withoutSecrets(resolved), 200)}`,
      fix: 'depend on a published version, or keep the code in the repository as a workspace',
    });
  }
  if (!NAME.test(name) || entry.version === undefined || !VERSION.test(entry.version)) {
    throw depsError('DEPS_LOCKFILE_INVALID', {
      message: `expected a package name and one exact version for ${place}, got ${toPrintable(`${name}@${entry.version ?? ''}`, 300)}`,
      fix: 'let npm write it: npm install --package-lock-only',
    });
  }
  const integrity = strongest(entry.integrity);
  if (integrity === null) {
    throw depsError('DEPS_PACKAGE_UNPINNED', {
      message: `expected the integrity of ${place}, got none`,
      fix: 'delete package-lock.json and node_modules, and let npm write the file anew: npm install --package-lock-only',
    });
  }
  // A name that can't exist (RFC 2606) stands for whatever registry there is.
  const isFetchable = resolved !== null && !/\.invalid\.?$/i.test(new URL(resolved).hostname);
  return {
    name,
    version: entry.version,
    integrity,
    resolved: isFetchable ? resolved : null,
    isAddressed: resolved !== null,
  };
}

function strongest(integrity: string | undefined): string | null {
  const parsed = integrity === undefined ? null : ssri.parse(integrity);
  const hash = parsed === null ? undefined : parsed[parsed.pickAlgorithm()]?.[0];
  return hash === undefined || hash.digest === '' ? null : `${hash.algorithm}-${hash.digest}`;
}

/** An address without what stands before its host, which may be a password. */
function withoutSecrets(address: string): string {
  return address.replace(/\/\/[^/@]*@/, '//');
}

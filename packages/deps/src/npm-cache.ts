import cacache from 'cacache';
import type { LockedPackage } from './lockfile.ts';

/**
 * The registry that npm is told of in a container. Nothing can have this name (RFC 2606), so that what is not in the
 * bundle is not looked for elsewhere.
 */
const REGISTRY = 'https://bundle.kervyxa.invalid';
/** Of each entry of the index; any would do, but always the same. */
const TIME_MS = 946_684_800_000;
/**
 * As npm asks for what a registry tells about a package: an entry of a cache answers only the request that
 * it was made for.
 */
export const PACKUMENT_ACCEPT =
  'application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8, */*';

/**
 * Npm's configuration in a container. Lock files name whatever registry they were made with, or none: all are this one.
 */
export const NPMRC = `registry=${REGISTRY}/
replace-registry-host=always
offline=true
audit=false
fund=false
update-notifier=false
logs-max=0
`;

export interface LockedTarball {
  readonly locked: LockedPackage;
  readonly content: Buffer;
}

/**
 * Writes a cache in which npm finds each tarball by its integrity, and, for lock files without addresses, by name and
 * version too. Equal tarballs make equal files, byte for byte, in whatever order they come.
 */
export async function writeNpmCache(
  folder: string,
  tarballs: readonly LockedTarball[],
): Promise<void> {
  const ordered = tarballs.toSorted((a, b) => compare(keyOf(a.locked), keyOf(b.locked)));
  const packages = Map.groupBy(ordered, ({ locked }) => locked.name);
  for (const [name, versions] of packages) {
    for (const { locked, content } of versions) {
      await put(folder, { url: toTarballUrl(locked), content, integrity: locked.integrity });
    }
    const content = Buffer.from(JSON.stringify(toPackument(name, versions)));
    const url = `${REGISTRY}/${name.replace('/', '%2f')}`;
    await put(folder, { url, content, integrity: null, accept: PACKUMENT_ACCEPT });
  }
}

export function keyOf({ name, version, integrity }: LockedPackage): string {
  return `${name} ${version} ${integrity}`;
}

export function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** As little as npm needs to get from a version to its tarball; all else is in the lock file. */
function toPackument(name: string, tarballs: readonly LockedTarball[]) {
  const versions: Record<string, unknown> = {};
  for (const { locked } of tarballs) {
    const { version, integrity } = locked;
    versions[version] = { name, version, dist: { tarball: toTarballUrl(locked), integrity } };
  }
  return { name, 'dist-tags': {}, versions };
}

function toTarballUrl({ name, version }: LockedPackage): string {
  return `${REGISTRY}/${name}/-/${name.slice(name.indexOf('/') + 1)}-${version}.tgz`;
}

async function put(
  folder: string,
  entry: {
    readonly url: string;
    readonly content: Buffer;
    readonly integrity: string | null;
    readonly accept?: string;
  },
): Promise<void> {
  const { url, content, integrity, accept } = entry;
  const options: cacache.put.Options & { readonly time: number } = {
    algorithms: [integrity?.split('-', 1)[0] ?? 'sha512'],
    ...(integrity !== null && { integrity }),
    size: content.length,
    time: TIME_MS,
    metadata: {
      time: TIME_MS,
      url,
      reqHeaders: accept === undefined ? {} : { accept },
      resHeaders: {},
      options: { compress: true },
    },
  };
  await cacache.put(folder, `make-fetch-happen:request-cache:${url}`, content, options);
}

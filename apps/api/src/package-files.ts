import { readTar } from '@kervyxa/core';
import type { Database } from '@kervyxa/db';
import { createApiError } from './errors.ts';

/** What is taken out of packages is held in memory. */
export const TAKEN_BYTES_MAX = 67_108_864;

/** Of a file, by where it is and how many bytes it has. */
type IsWanted = (file: { readonly path: string; readonly size: number }) => boolean;
type Store = Pick<Database, 'blobs' | 'reads'>;

/**
 * Files of a package that somebody has sent: whoever only knows a digest gets nothing. In the order of `paths`.
 * Throws API_PACKAGE_UNKNOWN, API_FILE_UNKNOWN, API_BODY_TOO_LARGE.
 */
export async function takeFiles(
  store: Store,
  {
    ownerId,
    sha256,
    paths,
  }: {
    readonly ownerId: string;
    readonly sha256: string;
    readonly paths: readonly string[];
  },
): Promise<readonly Uint8Array[]> {
  const wanted = new Set(paths);
  const files = await readFiles(await openOwn(store, ownerId, sha256), ({ path }) =>
    wanted.has(path),
  );
  return paths.map((path) => {
    const content = files.get(path);
    if (content !== undefined) return content;
    throw createApiError('API_FILE_UNKNOWN', {
      message: `expected the path of a file in the package, got ${JSON.stringify(path)}`,
      fix: 'give paths as they are in the folder that was packed, with slashes',
    });
  });
}

/** All files of a package that somebody has sent. Throws API_PACKAGE_UNKNOWN, API_BODY_TOO_LARGE. */
export async function takeFolder(
  store: Store,
  ownerId: string,
  sha256: string,
): Promise<ReadonlyMap<string, Uint8Array>> {
  return readFiles(await openOwn(store, ownerId, sha256), () => true);
}

/** Those files of a package that was published which are wanted. Throws API_BODY_TOO_LARGE. */
export async function readPublished(
  { blobs }: Store,
  sha256: string,
  isWanted: IsWanted,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const chunks = await blobs.readBlob(sha256);
  if (chunks === null) throw new Error(`expected the bytes of package ${sha256}, got none`);
  return readFiles(chunks, isWanted);
}

/** Keeps bytes; answers their digest, 64 hex digits. */
export async function keepBytes({ blobs }: Store, content: Uint8Array): Promise<string> {
  const chunks = async function* (): AsyncGenerator<Uint8Array> {
    yield content;
  };
  return (await blobs.saveBlob(chunks(), { bytesMax: content.length })).sha256;
}

async function openOwn(
  { reads, blobs }: Store,
  ownerId: string,
  sha256: string,
): Promise<AsyncIterable<Uint8Array>> {
  const found = await reads.packageOf(sha256, ownerId);
  const chunks = found === null ? null : await blobs.readBlob(sha256);
  if (chunks !== null) return chunks;
  throw createApiError('API_PACKAGE_UNKNOWN', {
    message: `expected the digest of a package that the caller has uploaded, got ${sha256}`,
    fix: 'upload it with POST /v1/packages first',
  });
}

async function readFiles(
  chunks: AsyncIterable<Uint8Array>,
  isWanted: IsWanted,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const pieces = new Map<string, Uint8Array[]>();
  let bytes = 0;
  await readTar(chunks, ({ type, path, size }) => {
    if (type !== 'file' || !isWanted({ path, size })) return undefined;
    bytes += size;
    if (bytes > TAKEN_BYTES_MAX) throw tooLarge();
    const content: Uint8Array[] = [];
    pieces.set(path, content);
    return (piece) => void content.push(piece);
  });
  return new Map([...pieces].map(([path, content]) => [path, Buffer.concat(content)]));
}

function tooLarge(): Error {
  return createApiError('API_BODY_TOO_LARGE', {
    message: `expected at most ${TAKEN_BYTES_MAX} bytes of files, got more`,
    fix: 'leave out what is not needed',
  });
}

import { passCanonical } from './pass-canonical.ts';
import { readPackageArchive } from './read-archive.ts';
import type { PackageLimits } from './seal.ts';

export interface UploadLimits extends PackageLimits {
  /** Archives up to so many bytes are held in memory, and any plain tar will do. */
  readonly heldBytesMax: number;
}

/** The one archive of the content, whatever was uploaded. */
export interface PackageUpload {
  /** To be read once. It throws at the latest before its last piece what `readPackageUpload` throws. */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Files and folders; known at the end of `chunks`. */
  entryCount(): number;
}

/**
 * Reads a hidden package or dependency bundle. A small archive may be any plain tar, and is put in order; a large one is
 * never held, and has to be in order already.
 *
 * Throws INTAKE_PACKAGE_UNREADABLE (small), INTAKE_PACKAGE_NOT_CANONICAL (large), INTAKE_PACKAGE_ENTRY_REFUSED,
 * INTAKE_PACKAGE_TOO_LARGE, and what the stream throws.
 */
export async function readPackageUpload(
  stream: AsyncIterable<Uint8Array>,
  limits: UploadLimits,
): Promise<PackageUpload> {
  const rest = stream[Symbol.asyncIterator]();
  const held: Uint8Array[] = [];
  let heldBytes = 0;
  while (heldBytes <= limits.heldBytesMax) {
    const next = await rest.next();
    if (next.done === true) {
      const { archive } = await readPackageArchive(toStream(held), limits);
      const chunks = archive.open(new AbortController().signal);
      return { chunks, entryCount: () => archive.entryCount };
    }
    held.push(next.value);
    heldBytes += next.value.length;
  }
  let entryCount = 0;
  const chunks = passCanonical(resume(held, rest), limits, (count) => (entryCount = count));
  return { chunks, entryCount: () => entryCount };
}

async function* toStream(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces;
}

/** Lets go of what was held as it is passed on. */
async function* resume(
  held: Uint8Array[],
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    for (let piece = held.shift(); piece !== undefined; piece = held.shift()) yield piece;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) {
      yield next.value;
    }
  } finally {
    await rest.return?.();
  }
}

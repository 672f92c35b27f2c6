import { packTree, sha256Hex, toPrintable, type TreeArchive, type TreeEntry } from '@kervyxa/core';
import { createIntakeError } from '../errors.ts';

export interface PackageLimits {
  /** Files and folders. */
  readonly entriesMax: number;
  /** Sum of file sizes in bytes; the package is held in memory. */
  readonly bytesMax: number;
}

export const PACKAGE_LIMITS: PackageLimits = { entriesMax: 10_000, bytesMax: 64 * 1_048_576 };

export interface VerifierPackage {
  /** Its digest is `sha256`. */
  readonly archive: TreeArchive;
  /** 64 hex digits: the SHA-256 of the archive's stream, which the contract names. */
  readonly sha256: string;
}

/** Packs entries, which stand in the order of a walk by byte order of names, as the one archive of their content. */
export async function sealPackage(entries: readonly TreeEntry[]): Promise<VerifierPackage> {
  const never = new AbortController().signal;
  const stream = Buffer.concat(await Array.fromAsync(packTree(toStream(entries), never)));
  const sha256 = sha256Hex(stream);
  return {
    sha256,
    archive: {
      digest: sha256,
      entryCount: entries.length,
      bytesTotal: entries.reduce((sum, each) => sum + (each.type === 'file' ? each.size : 0), 0),
      open: async function* (signal) {
        signal.throwIfAborted();
        yield stream;
      },
    },
  };
}

async function* toStream(entries: readonly TreeEntry[]): AsyncGenerator<TreeEntry> {
  yield* entries;
}

export function refused(path: string, problem: string): Error {
  return createIntakeError('INTAKE_PACKAGE_ENTRY_REFUSED', {
    message: `expected regular files and folders in the hidden package, but ${toPrintable(path, 300)} ${problem}`,
    fix: 'put the file itself into the package, under a plain name',
  });
}

export function tooLarge(limit: string): Error {
  return createIntakeError('INTAKE_PACKAGE_TOO_LARGE', {
    message: `expected a hidden package of at most ${limit}, got more`,
    fix: 'leave out what the hidden checks do not read',
  });
}

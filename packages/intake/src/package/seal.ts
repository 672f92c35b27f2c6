import {
  sealTree,
  toPrintable,
  type TreeArchive,
  type TreeEntry,
  type TreeLimits,
} from '@kervyxa/core';
import { createIntakeError } from '../errors.ts';

/** The package is held in memory. */
export type PackageLimits = TreeLimits;

export const PACKAGE_LIMITS: PackageLimits = { entriesMax: 10_000, bytesMax: 64 * 1_048_576 };

export interface VerifierPackage {
  /** Its digest is `sha256`. */
  readonly archive: TreeArchive;
  /** 64 hex digits: the SHA-256 of the archive's stream, which the contract names. */
  readonly sha256: string;
}

/** Packs entries, which stand in the order of a walk by byte order of names, as the one archive of their content. */
export async function sealPackage(entries: readonly TreeEntry[]): Promise<VerifierPackage> {
  const archive = await sealTree(entries);
  return { archive, sha256: archive.digest };
}

export function refused(path: string, problem: string): Error {
  return createIntakeError('INTAKE_PACKAGE_ENTRY_REFUSED', {
    message: `expected regular files and folders in the package, but ${toPrintable(path, 300)} ${problem}`,
    fix: 'put the file itself into it, under a plain name',
  });
}

export function tooLarge(limit: string): Error {
  return createIntakeError('INTAKE_PACKAGE_TOO_LARGE', {
    message: `expected a package of at most ${limit}, got more`,
    fix: 'leave out what no command of the contract reads',
  });
}

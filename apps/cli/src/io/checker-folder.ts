import { readArchiveFiles, type FolderFiles } from '@kervyxa/checker';
import type { TreeArchive } from '@kervyxa/core';

export interface CheckerFolder {
  /** As the user named it. */
  readonly name: string;
  readonly files: FolderFiles;
  /** Its digest is what contracts name. */
  readonly archive: TreeArchive;
}

/** Reads the folder of a checker package. Throws what `loadVerifierPackage` throws. */
export async function loadCheckerFolder(name: string, signal: AbortSignal): Promise<CheckerFolder> {
  const { loadVerifierPackage } = await import('@kervyxa/intake/package');
  const { archive } = await loadVerifierPackage(name);
  return { name, files: await readArchiveFiles(archive, signal), archive };
}

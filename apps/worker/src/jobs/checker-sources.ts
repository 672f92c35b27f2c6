import {
  type CheckerPackage,
  type FolderFiles,
  type InputFile,
  readArchiveFiles,
  readCheckerPackage,
} from '@kervyxa/checker';
import type { ImplementationRow } from '@kervyxa/db';
import { readPackageArchive } from '@kervyxa/intake/package';
import type { JobDeps } from './job.ts';
import { readBlob } from './sources.ts';

/** A published package, from the bytes that were uploaded. Lint let it through then. */
export async function loadChecker(
  { database }: Pick<JobDeps, 'database'>,
  sha256: string,
  signal: AbortSignal,
): Promise<CheckerPackage> {
  const reading = readCheckerPackage(await loadCheckerFiles({ database }, sha256, signal), sha256);
  if (reading.package !== null) return reading.package;
  const codes = reading.findings.map(({ code }) => code).join(', ');
  throw new Error(`expected checker package ${sha256} to be one, got ${codes}`);
}

/** The package of a published program, which learns the id of the contract that it was published under. */
export async function loadImplementation(
  deps: Pick<JobDeps, 'database'>,
  { packageSha256, contractId }: Pick<ImplementationRow, 'packageSha256' | 'contractId'>,
  signal: AbortSignal,
): Promise<CheckerPackage> {
  return { ...(await loadChecker(deps, packageSha256, signal)), contractId };
}

/** The files of an uploaded package, be it a checker's or not. */
export async function loadCheckerFiles(
  { database }: Pick<JobDeps, 'database'>,
  sha256: string,
  signal: AbortSignal,
): Promise<FolderFiles> {
  const { archive } = await readPackageArchive(await readBlob(database, sha256));
  return readArchiveFiles(archive, signal);
}

/** Bytes of an entry or a problem. Contracts bound them, and all of a stage is held in memory. */
export async function loadInput(
  { database }: Pick<JobDeps, 'database'>,
  { filename, mediaType, blob }: Omit<InputFile, 'content'> & { readonly blob: string },
): Promise<InputFile> {
  const pieces = await Array.fromAsync(await readBlob(database, blob));
  return { filename, mediaType, content: Buffer.concat(pieces) };
}

import { parseContract, type Contract } from '@kervyxa/contract';
import { CommitShaSchema, type TreeArchive } from '@kervyxa/core';
import type { ContractRow, SubmissionRow } from '@kervyxa/db';
import type { IntakeRequest } from '@kervyxa/intake';
import { readPackageArchive, type VerifierPackage } from '@kervyxa/intake/package';
import type { JobDeps } from './job.ts';

/** The frozen contract of a row. */
export function readContract({ document }: ContractRow): Contract {
  return parseContract(JSON.parse(document));
}

export function toIntakeRequest(
  { repository }: Contract,
  { repositoryUrl, commit }: SubmissionRow,
): IntakeRequest {
  return {
    baseRepositoryUrl: repository.url,
    baseCommit: repository.baseCommit,
    repositoryUrl,
    commit: CommitShaSchema.parse(commit),
  };
}

/** Has the base in this machine's intake, from what approval captured: no server is asked any more. */
export async function importBase(
  { database, intake }: JobDeps,
  request: IntakeRequest,
  { baseBlob }: ContractRow,
  signal: AbortSignal,
): Promise<void> {
  if (baseBlob === null || (await intake.holdsBase(request))) return;
  await intake.importBase(request, await readBlob(database, baseBlob), signal);
}

/** Has the commit too, from what was captured at submission; `importBase` comes first. */
export async function importCommit(
  { database, intake }: JobDeps,
  request: IntakeRequest,
  { sourceBlob }: SubmissionRow,
  signal: AbortSignal,
): Promise<void> {
  if (sourceBlob === null || (await intake.holdsCommit(request))) return;
  await intake.importCommit(request, await readBlob(database, sourceBlob), signal);
}

/** The hidden package that the contract froze. */
export async function loadPackage(
  { database }: JobDeps,
  { verifierPackage }: Contract,
): Promise<VerifierPackage['archive'] | null> {
  if (verifierPackage === null) return null;
  return (await readPackageArchive(await readBlob(database, verifierPackage.sha256))).archive;
}

/**
 * The dependency bundle that the contract froze. It may have hundreds of megabytes, so that it is read from the database
 * again each time that it is opened.
 */
export async function loadBundle(
  { database }: JobDeps,
  { environment }: Contract,
  { requesterId }: ContractRow,
): Promise<TreeArchive | null> {
  if (environment.dependencies === null) return null;
  const { sha256 } = environment.dependencies;
  const row = await database.reads.packageOf(sha256, requesterId);
  if (row === null) throw new Error(`expected package ${sha256} in the database, got none`);
  return {
    digest: sha256,
    entryCount: row.entryCount,
    // With tar's own bytes, which are few: what is made room for is a bound.
    bytesTotal: Number(row.sizeBytes),
    open: async function* (signal) {
      for await (const piece of await readBlob(database, sha256)) {
        signal.throwIfAborted();
        yield piece;
      }
    },
  };
}

export async function readBlob(
  { work }: Pick<JobDeps['database'], 'work'>,
  sha256: string,
): Promise<AsyncIterable<Uint8Array>> {
  const blob = await work.readBlob(sha256);
  if (blob === null) throw new Error(`expected blob ${sha256} in the database, got none`);
  return blob;
}

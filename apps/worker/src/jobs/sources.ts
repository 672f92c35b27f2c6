import { parseContract, type Contract } from '@kervyxa/contract';
import { CommitShaSchema } from '@kervyxa/core';
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

async function readBlob(
  { work }: JobDeps['database'],
  sha256: string,
): Promise<AsyncIterable<Uint8Array>> {
  const blob = await work.readBlob(sha256);
  if (blob === null) throw new Error(`expected blob ${sha256} in the database, got none`);
  return blob;
}

import { checkerDigestsOf, type Contract } from '@kervyxa/contract';
import { sha256Hex, Sha256HexSchema } from '@kervyxa/core';
import type { SealedEvidence } from '@kervyxa/db';
import { toBothViews, type FileRef, type SigningKey } from '@kervyxa/evidence';
import type { VerificationResult } from '@kervyxa/verifier';
import type { JobDeps } from './job.ts';

type RunTask = NonNullable<Awaited<ReturnType<JobDeps['database']['work']['runTask']>>>;

/** How a worker signs. */
export interface Signing {
  /** Who says it: of all workers of an operator the same. */
  readonly verifierId: string;
  /** Asked before each signature: another key may have come since the last one. Throws where there is none. */
  readonly openKey: () => SigningKey;
}

export interface RunOutcome {
  readonly task: RunTask;
  readonly contract: Contract;
  readonly result: VerificationResult;
}

/** What is sealed of a run. */
export interface Evidence {
  /** `result.json`, and the digest by which the verdict names it. */
  readonly result: string;
  readonly resultDigest: `sha256:${string}`;
  /** Throws what `openKey` throws. */
  sign(): SealedEvidence;
}

/**
 * Makes both views of what a run leaves: all but the time and the place in the audit log, which come with the seal.
 * A document that is no longer the one that was frozen is a defect, and nothing is signed about it.
 */
export async function toEvidence(
  { database, signing }: Pick<JobDeps, 'database' | 'signing'>,
  { task, contract, result }: RunOutcome,
): Promise<Evidence> {
  const { run, submission, claimToken } = task;
  const { full, keep } = toBothViews({
    contract,
    contractText: task.contract.document,
    result,
    run: {
      runRef: `urn:kervyxa:run:${run.id}`,
      purpose: run.purpose === 'RERUN' ? 'rerun' : 'verification',
      repositoryUrl: submission.repositoryUrl,
      commit: submission.commit,
      claimToken,
    },
    verifierId: signing.verifierId,
    blobs: await listBlobs(database, task, contract),
  });
  if (`sha256:${sha256Hex(full.texts['contract.json'])}` !== task.contract.digest) {
    throw new Error(`expected the document of ${task.contract.id} as it was frozen, got another`);
  }
  return {
    result: full.texts['result.json'],
    resultDigest: `sha256:${sha256Hex(full.texts['result.json'])}`,
    sign: () => keep(signing.openKey()),
  };
}

/** Every archive that the run has: blobs of the database, by the digests that contract and submission name. */
async function listBlobs(
  { work }: JobDeps['database'],
  { contract: { baseBlob }, submission: { sourceBlob } }: RunTask,
  contract: Contract,
): Promise<FileRef[]> {
  const named: readonly (readonly [path: FileRef['path'], sha256: string | null | undefined])[] = [
    ['base.bundle', baseBlob],
    ['source.bundle', sourceBlob],
    ['dependencies.tar', contract.environment.dependencies?.sha256],
    ['package.tar', contract.verifierPackage?.sha256],
    ...checkerDigestsOf(contract).map((sha256) => [`checkers/${sha256}.tar`, sha256] as const),
  ];
  const wanted = named.flatMap(([path, sha256]) =>
    sha256 === null || sha256 === undefined ? [] : [{ path, sha256 }],
  );
  const sizes = await work.blobSizes(wanted.map(({ sha256 }) => sha256));
  return wanted.map(({ path, sha256 }) => {
    const size = sizes.get(sha256);
    if (size === undefined) throw new Error(`expected blob ${sha256} in the database, got none`);
    return { path, sha256: Sha256HexSchema.parse(sha256), size };
  });
}

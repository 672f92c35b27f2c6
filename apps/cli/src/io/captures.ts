import type { Contract } from '@kervyxa/contract';
import type { CommitSha } from '@kervyxa/core';
import type { Intake } from '@kervyxa/intake';

/** Base and commit as this machine has them, for an intake elsewhere. */
export interface Captures {
  /** Null where it was not fetched on its own. */
  readonly base: AsyncIterable<Uint8Array> | null;
  /** Null where it was not fetched. */
  readonly source: AsyncIterable<Uint8Array> | null;
  close(): Promise<void>;
}

export interface CaptureRequest {
  readonly contract: Pick<Contract, 'repository'>;
  readonly repositoryUrl: string;
  readonly commit: CommitSha;
}

/** What a verification has fetched; no server is asked for more. Throws what the intake throws. */
export async function openCaptures(
  intake: Intake,
  { contract, repositoryUrl, commit }: CaptureRequest,
  signal: AbortSignal,
): Promise<Captures> {
  const { url: baseRepositoryUrl, baseCommit } = contract.repository;
  const request = { baseRepositoryUrl, baseCommit, repositoryUrl, commit };
  const base = (await intake.holdsBase(request))
    ? await intake.openBase(baseRepositoryUrl, baseCommit, signal)
    : null;
  const outcome = (await intake.holdsCommit(request))
    ? await intake.fetchCommit(request, signal)
    : null;
  const source = outcome?.kind === 'fetched' ? outcome.source : null;
  return {
    base: base?.exportCapture(signal) ?? null,
    source: source?.exportCapture(signal) ?? null,
    close: async () => {
      await base?.close();
      await source?.close();
    },
  };
}

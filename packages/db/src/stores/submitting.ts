import type { Call, SubmittedRow } from '../ports.ts';

export interface SubmitInput {
  readonly contractId: string;
  readonly repositoryUrl: string;
  readonly commit: string;
}

export interface Submit {
  readonly call: Call;
  readonly input: SubmitInput;
}

/** The submission as it was received, whatever has become of it; or why it is refused. */
export type Submitted = SubmittedRow | Error;

/** One who submits, on the way to an answer. */
export interface Submitting extends Submit {
  readonly id: string;
  answer: Submitted | null;
}

/** The submission as it was received, whatever has become of it. */
export function toReceived(
  { call, input }: Submit,
  received: Pick<SubmittedRow, 'id' | 'seq' | 'receivedAt' | 'isRepeat'>,
): SubmittedRow {
  return {
    ...received,
    contractId: input.contractId,
    solverId: call.actorId,
    repositoryUrl: input.repositoryUrl,
    commit: input.commit,
    state: 'RECEIVED',
    capturedAt: null,
    sourceBlob: null,
    tree: null,
    windowOpensAt: null,
    windowClosesAt: null,
    verdict: null,
    reason: null,
    resultDigest: null,
  };
}

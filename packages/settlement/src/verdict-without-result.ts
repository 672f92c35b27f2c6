import { canonicalDigest, type ReasonCode, type SealedVerdict } from '@kervyxa/core';

/** The verdict on a submission that no run decided. Its result is these two fields, and nothing else. */
export function verdictWithoutResult(reason: ReasonCode): SealedVerdict {
  const result = { verdict: 'INCONCLUSIVE', reason } as const;
  return { ...result, resultDigest: canonicalDigest(result) };
}

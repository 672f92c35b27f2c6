import { z } from 'zod';
import { canonicalDigest } from './digest.ts';
import { type ReasonCode, ReasonCodeSchema } from './reasons.ts';

/**
 * What the money side is told of a verification: the verdict, its primary reason and where the whole result is. It
 * says nothing of how it came about, so settlement never depends on execution. ERROR is no verdict to settle on: it is
 * retried and then held, and never sealed.
 */
export const SealedVerdictSchema = z.strictObject({
  verdict: z.enum(['PASS', 'FAIL', 'INCONCLUSIVE']),
  /** Null exactly for PASS. */
  reason: ReasonCodeSchema.nullable(),
  /** `sha256:` and the digest of the canonical JSON of the whole result. */
  resultDigest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
});
export type SealedVerdict = z.infer<typeof SealedVerdictSchema>;

/** The verdict on a submission that no run decided. Its result is these two fields, and nothing else. */
export function verdictWithoutResult(
  verdict: 'FAIL' | 'INCONCLUSIVE',
  reason: ReasonCode,
): SealedVerdict {
  return { verdict, reason, resultDigest: canonicalDigest({ verdict, reason }) };
}

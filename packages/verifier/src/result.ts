import { ReasonCodeSchema, VerdictSchema } from '@kervyxa/core';
import { z } from 'zod';

/** `not_run`: an earlier step already decided, so the criterion never started. */
export const CRITERION_STATUSES = ['pass', 'fail', 'inconclusive', 'error', 'not_run'] as const;

export const ReasonSchema = z.strictObject({
  code: ReasonCodeSchema,
  /** One sentence for a person: what was expected and what came. */
  message: z.string(),
  /** The path, criterion or set-up step it is about. */
  subject: z.string().nullable(),
});
export type Reason = z.infer<typeof ReasonSchema>;

export const CriterionResultSchema = z.strictObject({
  id: z.string(),
  type: z.string(),
  visibility: z.enum(['public', 'hidden']),
  status: z.enum(CRITERION_STATUSES),
  /** Null for pass and not_run. */
  reason: ReasonCodeSchema.nullable(),
  message: z.string().nullable(),
  exitCode: z.int().nullable(),
  /** The number a benchmark was judged by; null where there was none. */
  metric: z.number().nullable(),
  /** Highest memory of the container, where the host can tell. Information only. */
  peakMemoryBytes: z.number().nullable(),
  /** Information only; no verdict depends on it. */
  durationMs: z.number().nullable(),
  /** SHA-256 over everything the command printed on stdout; null where it did not run. */
  outputSha256: z.string().nullable(),
});
export type CriterionResult = z.infer<typeof CriterionResultSchema>;

/** What `verifyCommit` answers, and what `kervyxa verify --json` prints. */
export const VerificationResultSchema = z.strictObject({
  verdict: VerdictSchema,
  contractDigest: z.string(),
  commit: z.string(),
  /** Null where the commit could not be fetched. */
  tree: z.string().nullable(),
  /** Null where no image was resolved. */
  imageDigest: z.string().nullable(),
  changedFiles: z.array(
    z.strictObject({
      path: z.string(),
      status: z.enum(['added', 'deleted', 'modified', 'type_changed']),
    }),
  ),
  criteria: z.array(CriterionResultSchema),
  /** Every reason, the primary one first; empty exactly for PASS. */
  reasons: z.array(ReasonSchema),
});
export type VerificationResult = z.infer<typeof VerificationResultSchema>;

import { CHECK_REASONS, type ReasonCode, VerdictSchema } from '@kervyxa/core';
import { z } from 'zod';
import { CriterionResultSchema, ReasonSchema } from '../result.ts';

/**
 * What a column of the report is: the base as it is, a commit of `proof`, or a commit that proving made from base and
 * known-good to see it fail.
 */
export const COLUMN_KINDS = [
  'base',
  'known_good',
  'known_bad',
  /** No change at all. */
  'empty_diff',
  /** The known-good commit with one changed file as in the base. */
  'file_reverted',
  /** The known-good commit, or the base, without tests that the constraints let go. */
  'tests_deleted',
  /** The base, with the best value of a metric printed by a program that the known-good commit changes. */
  'metric_printed',
  /** The base, with such a program leaving with status 0 before it does anything. */
  'exits_at_import',
  /** No commit: output that is no answer, given to the judge of every judge_probe and to every checker. */
  'output_garbled',
] as const;

export const ProvingColumnSchema = z.strictObject({
  /** Unique in the report: `base`, `good-1`, `bad-1`, `empty-diff`, `reverted-2`, … */
  id: z.string(),
  kind: z.enum(COLUMN_KINDS),
  /** For a person: the commit, or what was changed where. */
  title: z.string(),
  commit: z.string().nullable(),
  /** Null for the base, which must not pass as a whole. */
  expected: z.enum(['PASS', 'FAIL']).nullable(),
  verdict: VerdictSchema,
  reasons: z.array(ReasonSchema),
  criteria: z.array(CriterionResultSchema),
  /** Unified diff against the base, cut at 64 KiB; null where the repository has the commit. */
  diff: z.string().nullable(),
});
export type ProvingColumn = z.infer<typeof ProvingColumnSchema>;

/**
 * Whether a column came out as it should. Commits of ours that solve nothing, and what is no answer, are refused as well
 * by checkers that leave them undecided.
 */
export function isAsWanted({ kind, expected, verdict, reasons }: ProvingColumn): boolean {
  if (expected === null) return verdict !== 'PASS';
  if (verdict === expected) return true;
  const isOurs = kind !== 'known_good' && kind !== 'known_bad';
  return isOurs && reasons.length > 0 && reasons.every(({ code }) => isUndecided(code));
}

/**
 * Whether a checker was not asked, or left open, what was put before it: an end that a well-written one has as well, and
 * that nobody is paid for.
 */
export function isUndecided(reason: ReasonCode | null): boolean {
  return CHECK_REASONS.some((each) => each === reason);
}

export const ReplaySchema = z.strictObject({
  status: CriterionResultSchema.shape.status,
  reason: CriterionResultSchema.shape.reason,
  exitCode: z.int().nullable(),
  metric: z.number().nullable(),
  outputSha256: z.string().nullable(),
  durationMs: z.number().nullable(),
});
export type Replay = z.infer<typeof ReplaySchema>;

/** The runs of one criterion on the known-good commit, one for each replay. */
export const CriterionReplaysSchema = z.strictObject({
  criterionId: z.string(),
  runs: z.array(ReplaySchema),
  /** Largest minus smallest metric, in its unit; null without a metric in every run. */
  metricSpread: z.number().nullable(),
  tolerance: z.number().nullable(),
  /** Largest minus smallest wall-clock time in parts of the median: 0.5 is 50 %; null with fewer than two runs. */
  durationSpread: z.number().nullable(),
});
export type CriterionReplays = z.infer<typeof CriterionReplaysSchema>;

export const ProvingFindingSchema = z.strictObject({
  code: z.string(),
  severity: z.enum(['refuse', 'acknowledge', 'advise']),
  pointer: z.string(),
  message: z.string(),
  fix: z.string(),
  evidence: z.string().optional(),
  acknowledgement: z.string().nullable(),
});

export type ProvingFinding = z.infer<typeof ProvingFindingSchema>;

/**
 * What proving answers, what `kervyxa prove --json` prints and what the daemon keeps. It shows hidden criteria and the
 * ends of their logs: requester and operator only. Proved again, it is the same but for times, peak memory, digests of
 * output, and the ends of logs in `evidence`.
 */
export const ProvingReportSchema = z.strictObject({
  schemaVersion: z.literal('kervyxa.proving.v1'),
  contractDigest: z.string(),
  imageDigest: z.string().nullable(),
  isProved: z.boolean(),
  /** In the order of the contract. */
  criteria: z.array(
    z.strictObject({
      id: z.string(),
      title: z.string(),
      type: z.string(),
      visibility: z.enum(['public', 'hidden']),
      /** The metric in words, `peak_heap < 60000000 bytes (node_peak_heap_bytes)`; null without one. */
      metric: z.string().nullable(),
    }),
  ),
  columns: z.array(ProvingColumnSchema),
  replays: z.array(CriterionReplaysSchema),
  /** By place in the contract. */
  findings: z.array(ProvingFindingSchema),
  /** What proving could not try, each a sentence; nothing in it refuses. */
  notes: z.array(z.string()),
});
export type ProvingReport = z.infer<typeof ProvingReportSchema>;

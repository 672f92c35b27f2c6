import { ReasonCodeSchema, VerdictSchema } from '@kervyxa/core';
import type { Criterion } from '@kervyxa/contract';
import { z } from 'zod';
import type { Grade } from './grade-end.ts';
import type { RunEvidence } from './grade.ts';

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
  /** SHA-256 over everything the command printed on stdout; null where it did not run, or its harness tells none. */
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
  /**
   * SHA-256 over names, modes and contents of what the commands read, the same before the first and after the last; null
   * where none ran, and for what the contract has not.
   */
  inputs: z
    .strictObject({
      checkout: z.string(),
      package: z.string().nullable(),
      dependencies: z.string().nullable(),
    })
    .nullable(),
  criteria: z.array(CriterionResultSchema),
  /** Every reason, the primary one first; empty exactly for PASS. */
  reasons: z.array(ReasonSchema),
});
export type VerificationResult = z.infer<typeof VerificationResultSchema>;

/**
 * In these fields of a criterion two verifications of one commit may differ; all the rest is equal to the byte, whatever
 * worker runs it and whatever else that has to do. What a command prints is its own affair: test runners print times.
 * Of a criterion with source `peak_memory_bytes`, `metric` and `message` move with the kernel's number (PERF §7); the
 * `message` of a checker has words of its program.
 */
export const VOLATILE_FIELDS = [
  'peakMemoryBytes',
  'durationMs',
  'outputSha256',
] as const satisfies (keyof CriterionResult)[];

export type StableResult = Omit<VerificationResult, 'criteria'> & {
  readonly criteria: readonly Omit<CriterionResult, (typeof VOLATILE_FIELDS)[number]>[];
};

/** What is the same each time that a commit is verified. */
export function withoutVolatile(result: VerificationResult): StableResult {
  return { ...result, criteria: result.criteria.map(toStable) };
}

function toStable(criterion: CriterionResult): StableResult['criteria'][number] {
  const stable: Partial<CriterionResult> = { ...criterion };
  for (const field of VOLATILE_FIELDS) delete stable[field];
  return stable as StableResult['criteria'][number]; // Exactly the fields of the list are gone.
}

/** A criterion that never started. */
export function toNotRun({ id, type, visibility }: Criterion): CriterionResult {
  return {
    id,
    type,
    visibility,
    status: 'not_run',
    reason: null,
    message: null,
    exitCode: null,
    metric: null,
    peakMemoryBytes: null,
    durationMs: null,
    outputSha256: null,
  };
}

/**
 * A criterion that ran, with its grade. Of a judge_probe exit status and digest are the judge's where it ran, the time
 * is that of both, the memory the probe's.
 */
export function toResult(
  criterion: Criterion,
  { outcome, count, judging }: RunEvidence,
  { status, reason, message, metric }: Grade,
): CriterionResult {
  const report = count?.kind === 'one' ? count.report : null;
  const judge = judging?.kind === 'judged' ? judging.outcome : null;
  const last = judge ?? outcome;
  return {
    ...toNotRun(criterion),
    status,
    reason,
    message,
    metric,
    exitCode: report === null ? last.exitCode : report.exitCode,
    peakMemoryBytes: outcome.peakMemoryBytes,
    durationMs: Math.round(outcome.durationMs + (judge?.durationMs ?? 0)),
    outputSha256: count === null ? last.stdout.sha256 : (report?.stdoutSha256 ?? null),
  };
}

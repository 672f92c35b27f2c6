import { ReasonCodeSchema, VerdictSchema } from '@kervyxa/core';
import { toPublicResult } from '@kervyxa/evidence';
import { z } from 'zod';
import { seesHidden, seesSource, type Sight, type SubmissionSubject } from '../auth/access.ts';

const CriterionResultView = z.object({
  id: z.string(),
  type: z.string(),
  visibility: z.enum(['public', 'hidden']),
  status: z.enum(['pass', 'fail', 'inconclusive', 'error', 'not_run']),
  reason: ReasonCodeSchema.nullable(),
  message: z.string().nullable(),
  exitCode: z.int().nullable(),
  metric: z.number().nullable(),
  peakMemoryBytes: z.number().nullable(),
  durationMs: z.number().nullable(),
  outputSha256: z.string().nullable(),
});

const ReasonView = z.object({
  code: ReasonCodeSchema,
  message: z.string().nullable(),
  subject: z.string().nullable(),
});

/** Of the stored result what is named here and nothing else; of a hidden criterion only status and reason code. */
export const ResultView = z.object({
  verdict: VerdictSchema,
  contractDigest: z.string().nullable(),
  commit: z.string().nullable(),
  tree: z.string().nullable(),
  imageDigest: z.string().nullable(),
  changedFiles: z.array(z.object({ path: z.string(), status: z.string() })),
  changedFileCount: z.int().describe('How many there are; `changedFiles` may list fewer.'),
  inputs: z
    .object({
      checkout: z.string().nullable(),
      package: z.string().nullable(),
      dependencies: z.string().nullable(),
    })
    .nullable()
    // Results of before it was measured have none.
    .default(null)
    .describe('SHA-256 over what the commands read, the same before and after them.'),
  criteria: z.array(CriterionResultView),
  reasons: z.array(ReasonView),
});
type Result = z.infer<typeof ResultView>;

/** `text`: the verifier's result, as it was sealed. */
export function toResultView(text: string, submission: SubmissionSubject, sight: Sight): Result {
  const result = ResultView.parse(JSON.parse(text));
  const withSource = seesSource(sight, submission) ? result : withoutSource(result);
  return seesHidden(sight) ? withSource : toPublicResult(withSource);
}

function withoutSource(result: Result): Result {
  const criteria = new Set(result.criteria.map(({ id }) => id));
  // A sentence about the commit as a whole may name it or its repository.
  const reasons = result.reasons.map((reason) =>
    criteria.has(reason.subject ?? '') ? reason : { ...reason, message: null },
  );
  const inputs = result.inputs && { ...result.inputs, checkout: null };
  return { ...result, commit: null, tree: null, inputs, reasons };
}

import { ReasonCodeSchema, SOLVER_REASONS, SOURCE_REASONS, VerdictSchema } from '@kervyxa/core';
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
  criteria: z.array(CriterionResultView),
  reasons: z.array(ReasonView),
});
type Result = z.infer<typeof ResultView>;

/** `text`: the verifier's result, as it was sealed. */
export function toResultView(text: string, submission: SubmissionSubject, sight: Sight): Result {
  const result = ResultView.parse(JSON.parse(text));
  const withSource = seesSource(sight, submission) ? result : withoutSource(result);
  return seesHidden(sight) ? withSource : withoutHidden(withSource);
}

function withoutSource(result: Result): Result {
  const criteria = new Set(result.criteria.map(({ id }) => id));
  // A sentence about the commit as a whole may name it or its repository.
  const reasons = result.reasons.map((reason) =>
    criteria.has(reason.subject ?? '') ? reason : { ...reason, message: null },
  );
  return { ...result, commit: null, tree: null, reasons };
}

const ABOUT_COMMIT = new Set<string>([...SOLVER_REASONS, ...SOURCE_REASONS]);

/** Whether sentences about the reason are about the commit; those of others may tell of the package or the machine. */
export function isTellable(reason: string): boolean {
  return ABOUT_COMMIT.has(reason);
}

function withoutHidden(result: Result): Result {
  const hidden = new Set(
    result.criteria.filter(({ visibility }) => visibility === 'hidden').map(({ id }) => id),
  );
  return {
    ...result,
    contractDigest: null,
    criteria: result.criteria.map((each) =>
      hidden.has(each.id) ? toBareStatus(each) : withoutUntellable(each),
    ),
    reasons: result.reasons.map((reason) =>
      hidden.has(reason.subject ?? '') || !isTellable(reason.code)
        ? { ...reason, message: null }
        : reason,
    ),
  };
}

function withoutUntellable(criterion: Result['criteria'][number]) {
  const { reason } = criterion;
  return reason === null || isTellable(reason) ? criterion : { ...criterion, message: null };
}

function toBareStatus({ id, type, visibility, status, reason }: Result['criteria'][number]) {
  return {
    id,
    type,
    visibility,
    status,
    reason,
    message: null,
    exitCode: null,
    metric: null,
    peakMemoryBytes: null,
    durationMs: null,
    outputSha256: null,
  };
}

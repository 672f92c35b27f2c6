import { z } from 'zod';
import { EVALUATION_REFUSALS } from './refusals.ts';

/** How a check was reported, or that it was not, not once, or not asked for. */
export const CHECK_STATUSES = [
  'passed',
  'failed',
  'inconclusive',
  'error',
  'not_run',
  'missing',
  'unexpected',
  'duplicate',
] as const;

const DigestSchema = z.string().regex(/^sha256:[0-9a-f]{64}$/);
/** Names something for who reads the record; a URI, or a name within the run. */
const RefSchema = z.string().min(1).max(2_048);

/**
 * `operator-task-verifier-evaluation.v1`: what the host makes of one result of one verifier.
 * docs/schemas/operator-task-verifier-evaluation.v1.schema.json says the same to others.
 */
export const EvaluationRecordSchema = z
  .strictObject({
    schema: z.literal('operator-task-verifier-evaluation.v1'),
    'schema/v': z.literal(1),
    'run/ref': RefSchema,
    'verifier/ref': RefSchema,
    'verifier/digest': DigestSchema,
    'result/ref': RefSchema.optional(),
    'result/digest': DigestSchema.optional(),
    /** Each name once: those that were declared in their order, then those that nobody declared. */
    checks: z.array(z.strictObject({ 'check/ref': RefSchema, status: z.enum(CHECK_STATUSES) })),
    passed: z.boolean(),
    'refusal/code': z.enum(EVALUATION_REFUSALS).optional(),
  })
  .refine((record) => record['refusal/code'] === undefined || !record.passed, {
    error: 'expected passed false beside refusal/code',
    path: ['passed'],
  })
  .refine(
    ({ passed, checks }) =>
      !passed || (checks.length > 0 && checks.every(({ status }) => status === 'passed')),
    { error: 'expected passed true only beside checks that all passed', path: ['passed'] },
  )
  .refine(
    (record) => (record['result/ref'] === undefined) === (record['result/digest'] === undefined),
    { error: 'expected result/ref and result/digest both or neither', path: ['result/digest'] },
  );
export type EvaluationRecord = z.infer<typeof EvaluationRecordSchema>;
export type CheckStatus = EvaluationRecord['checks'][number]['status'];
/** What a verifier can say of a check. */
export type ReportedStatus = Exclude<CheckStatus, 'missing' | 'unexpected' | 'duplicate'>;

import { z } from 'zod';

const CriterionSchema = z.looseObject({
  id: z.string(),
  visibility: z.enum(['public', 'hidden']),
  status: z.string(),
  reason: z.string().nullable(),
  message: z.string().nullable(),
  exitCode: z.int().nullable(),
  metric: z.number().nullable(),
  peakMemoryBytes: z.number().nullable(),
  durationMs: z.number().nullable(),
  outputSha256: z.string().nullable(),
});

/** What the tables need of the verifier's result; the rest is kept as it is. */
const ResultSchema = z.looseObject({ criteria: z.array(CriterionSchema) });
export type StoredCriterion = z.infer<typeof CriterionSchema>;

/** The criteria of a recorded result, JSON text. */
export function toStoredCriteria(text: string): readonly StoredCriterion[] {
  return ResultSchema.parse(JSON.parse(text)).criteria;
}

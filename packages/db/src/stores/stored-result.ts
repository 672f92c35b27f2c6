import { z } from 'zod';

/** Changed files that a stored result lists; a commit can change a hundred thousand. */
export const CHANGED_FILES_MAX = 1_000;

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
const ResultSchema = z.looseObject({
  changedFiles: z.array(z.unknown()),
  criteria: z.array(CriterionSchema),
});

export interface StoredResult {
  readonly text: string;
  readonly criteria: readonly z.infer<typeof CriterionSchema>[];
}

/** The result as it is kept: the first changed files only, and `changedFileCount`, how many there are. */
export function toStoredResult(text: string): StoredResult {
  const result = ResultSchema.parse(JSON.parse(text));
  const changedFiles = result.changedFiles.slice(0, CHANGED_FILES_MAX);
  const stored = { ...result, changedFiles, changedFileCount: result.changedFiles.length };
  return { text: JSON.stringify(stored), criteria: result.criteria };
}

import { VerificationResultSchema, type VerificationResult } from '@kervyxa/verifier';
import { z } from 'zod';

/** Changed files that a recorded result lists; a commit can change a hundred thousand. */
const CHANGED_FILES_MAX = 1_000;

const { shape } = VerificationResultSchema;

/** A result as it is kept and shown: `changedFiles` may list fewer than there are, and outsiders are told less. */
export const RecordedResultSchema = z.strictObject({
  ...shape,
  /** Null for outsiders, as it depends on what is hidden. */
  contractDigest: shape.contractDigest.nullable(),
  changedFiles: shape.changedFiles.max(CHANGED_FILES_MAX),
  changedFileCount: z.int().min(0),
  reasons: z.array(
    z.strictObject({ ...shape.reasons.element.shape, message: z.string().nullable() }),
  ),
});
export type RecordedResult = z.infer<typeof RecordedResultSchema>;

/** The result with the first changed files only, and `changedFileCount`, how many there are. */
export function toRecordedResult(result: VerificationResult): RecordedResult {
  const changedFiles = result.changedFiles.slice(0, CHANGED_FILES_MAX);
  return { ...result, changedFiles, changedFileCount: result.changedFiles.length };
}

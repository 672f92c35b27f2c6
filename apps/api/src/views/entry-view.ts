import type { EntryRow } from '@kervyxa/db';
import { z } from 'zod';
import {
  CheckIdField,
  CountField,
  EntryIdField,
  KeyField,
  PrincipalIdField,
  ProblemIdField,
  TimeField,
  toTime,
} from './fields.ts';

export const EntryView = z.strictObject({
  id: EntryIdField,
  problemId: ProblemIdField,
  solverId: PrincipalIdField,
  checkId: CheckIdField,
  summaryText: z.string().nullable(),
  artifacts: z.array(
    z.strictObject({
      role: KeyField,
      filename: z.string(),
      mediaType: z.string().nullable(),
      sizeBytes: CountField,
      contentHash: z.string(),
    }),
  ),
  receivedAt: TimeField,
});

export function toEntryView(row: EntryRow): z.infer<typeof EntryView> {
  return {
    id: row.id,
    problemId: row.problemId,
    solverId: row.solverId,
    checkId: row.checkId,
    summaryText: row.summaryText,
    artifacts: row.artifacts.map(({ role, filename, mediaType, sizeBytes, blob }) => ({
      role,
      filename,
      mediaType,
      sizeBytes: sizeBytes.toString(),
      contentHash: `sha256:${blob}`,
    })),
    receivedAt: toTime(row.receivedAt),
  };
}

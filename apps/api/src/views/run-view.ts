import { VerdictSchema } from '@kervyxa/core';
import type { RunRow, SubmissionRow } from '@kervyxa/db';
import { RUN_PURPOSES, RUN_STATES } from '@kervyxa/settlement';
import { z } from 'zod';
import { seesHidden, type Sight } from '../auth/access.ts';
import {
  ContractIdField,
  RunIdField,
  SubmissionIdField,
  TimeField,
  toTime,
  toTimeOrNull,
  ReasonField,
  ResultDigestField,
} from './fields.ts';
import { ResultView, toResultView } from './result-view.ts';

export const RunView = z.strictObject({
  id: RunIdField,
  submissionId: SubmissionIdField,
  contractId: ContractIdField,
  purpose: z.enum(RUN_PURPOSES),
  state: z.enum(RUN_STATES),
  attempt: z.int(),
  tries: z.int(),
  verdict: VerdictSchema.nullable(),
  reason: ReasonField,
  resultDigest: ResultDigestField,
  createdAt: TimeField,
  startedAt: TimeField.nullable(),
  finishedAt: TimeField.nullable(),
  result: ResultView.nullable().describe('Null until the run is sealed.'),
});

/** For callers that may see the submission's runs. */
export function toRunView(
  row: RunRow,
  submission: SubmissionRow,
  sight: Sight,
): z.infer<typeof RunView> {
  return {
    id: row.id,
    submissionId: row.submissionId,
    contractId: row.contractId,
    purpose: row.purpose,
    state: row.state,
    attempt: row.attempt,
    tries: row.tries,
    verdict: row.verdict,
    reason: ReasonField.parse(row.reason),
    resultDigest: seesHidden(sight) ? row.resultDigest : null,
    createdAt: toTime(row.createdAt),
    startedAt: toTimeOrNull(row.startedAt),
    finishedAt: toTimeOrNull(row.finishedAt),
    result: row.result === null ? null : toResultView(row.result, submission, sight),
  };
}

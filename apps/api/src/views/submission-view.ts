import { VerdictSchema } from '@kervyxa/core';
import type { RunListRow, SubmissionRow } from '@kervyxa/db';
import { RUN_PURPOSES, RUN_STATES, SUBMISSION_STATES } from '@kervyxa/settlement';
import { z } from 'zod';
import { seesHidden, seesRuns, seesSource, type Sight } from '../auth/access.ts';
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

export const SubmissionView = z.strictObject({
  id: SubmissionIdField,
  contractId: ContractIdField,
  solverId: z
    .string()
    .nullable()
    .describe(
      'Null until it holds the pass, but for those who see its runs; so are verdict and reason.',
    ),
  state: z.enum(SUBMISSION_STATES),
  source: z
    .strictObject({
      repositoryUrl: z.string(),
      commit: z.string(),
      tree: z.string().nullable(),
    })
    .nullable()
    .describe('Null for others than solver, arbiter and operator until it holds the pass.'),
  receivedAt: TimeField,
  capturedAt: TimeField.nullable(),
  window: z
    .strictObject({ opensAt: TimeField, closesAt: TimeField })
    .nullable()
    .describe('Half-open: challenges before `closesAt`, settlement at or after it.'),
  verdict: VerdictSchema.nullable(),
  reason: ReasonField,
  resultDigest: ResultDigestField,
});

export const SubmissionDetail = SubmissionView.extend({
  runs: z
    .array(
      z.strictObject({ id: RunIdField, purpose: z.enum(RUN_PURPOSES), state: z.enum(RUN_STATES) }),
    )
    .describe('Empty where they are not for the caller to see.'),
});

export function toSubmissionView(row: SubmissionRow, sight: Sight): z.infer<typeof SubmissionView> {
  const { repositoryUrl, commit, tree, windowOpensAt, windowClosesAt } = row;
  const isParty = seesRuns(sight, row);
  const hasWindow = windowOpensAt !== null && windowClosesAt !== null;
  return {
    id: row.id,
    contractId: row.contractId,
    solverId: isParty ? row.solverId : null,
    state: row.state,
    source: seesSource(sight, row) ? { repositoryUrl, commit, tree } : null,
    receivedAt: toTime(row.receivedAt),
    capturedAt: toTimeOrNull(row.capturedAt),
    window: hasWindow ? { opensAt: toTime(windowOpensAt), closesAt: toTime(windowClosesAt) } : null,
    verdict: isParty ? row.verdict : null,
    reason: isParty ? ReasonField.parse(row.reason) : null,
    resultDigest: seesHidden(sight) ? row.resultDigest : null,
  };
}

export function toSubmissionDetail(
  row: SubmissionRow,
  runs: readonly RunListRow[],
  sight: Sight,
): z.infer<typeof SubmissionDetail> {
  const shown = seesRuns(sight, row) ? runs : [];
  return {
    ...toSubmissionView(row, sight),
    runs: shown.map(({ id, purpose, state }) => ({ id, purpose, state })),
  };
}

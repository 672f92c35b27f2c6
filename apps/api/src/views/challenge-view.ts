import type { ChallengeRow } from '@kervyxa/db';
import { CHALLENGE_KINDS, CHALLENGE_STATES, type ChallengeCase } from '@kervyxa/settlement';
import { z } from 'zod';
import { seesHidden, type Sight } from '../auth/access.ts';
import {
  AmountField,
  ChallengeIdField,
  ContractIdField,
  RunIdField,
  SubmissionIdField,
  TimeField,
  toTime,
  toTimeOrNull,
} from './fields.ts';

/** What the answer to a filing says. */
export const ChallengeReceipt = z.strictObject({
  id: ChallengeIdField,
  contractId: ContractIdField,
  submissionId: SubmissionIdField,
  challengerId: z.string(),
  kind: z.enum(CHALLENGE_KINDS),
  state: z.enum(CHALLENGE_STATES),
  bondMinor: AmountField,
  respondBy: TimeField.describe('The arbiter decides at or after it, or once the solver answered.'),
  decideBy: TimeField.describe('From then on the verdict of the machine stands.'),
  runIds: z.array(RunIdField),
});

export const ChallengeView = ChallengeReceipt.extend({
  evidence: z
    .string()
    .nullable()
    .describe('Null for others than the parties, arbiters and the operator.'),
  filedAt: TimeField,
  endedAt: TimeField.nullable(),
  resolutions: z.array(
    z.strictObject({
      arbiterId: z.string(),
      decision: z.enum(CHALLENGE_KINDS),
      statement: z.string().nullable(),
      at: TimeField,
    }),
  ),
});

export function toChallengeReceipt(
  challenge: ChallengeCase,
  contractId: string,
): z.infer<typeof ChallengeReceipt> {
  return {
    id: challenge.id,
    contractId,
    submissionId: challenge.submissionId,
    challengerId: challenge.challengerId,
    kind: challenge.kind,
    state: challenge.state,
    bondMinor: challenge.bondMinor.toString(),
    respondBy: toTime(challenge.respondBy),
    decideBy: toTime(challenge.decideBy),
    runIds: [...challenge.runIds],
  };
}

/** `solverId`: of the submission that is challenged. What the parties wrote is for them and the arbiters. */
export function toChallengeView(
  row: ChallengeRow,
  solverId: string,
  sight: Sight,
): z.infer<typeof ChallengeView> {
  const isParty = [row.challengerId, solverId].includes(sight.viewerId) || seesHidden(sight);
  return {
    id: row.id,
    contractId: row.contractId,
    submissionId: row.submissionId,
    challengerId: row.challengerId,
    kind: row.kind,
    state: row.state,
    bondMinor: row.bondMinor.toString(),
    respondBy: toTime(row.respondBy),
    decideBy: toTime(row.decideBy),
    runIds: [...row.runIds],
    evidence: isParty ? row.evidence : null,
    filedAt: toTime(row.filedAt),
    endedAt: toTimeOrNull(row.endedAt),
    resolutions: row.resolutions.map(({ arbiterId, decision, statement, at }) => ({
      arbiterId,
      decision,
      statement: isParty ? statement : null,
      at: toTime(at),
    })),
  };
}

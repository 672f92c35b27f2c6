import { CONTRACT_KINDS, FINDING_CODES } from '@kervyxa/contract';
import type { ContractListRow, ContractRow } from '@kervyxa/db';
import { CONTRACT_STATES } from '@kervyxa/settlement';
import { z } from 'zod';
import { seesHidden, seesOwners, type Sight } from '../auth/access.ts';
import { AmountField, ContractIdField, TimeField, toTime, toTimeOrNull } from './fields.ts';

export const FindingView = z.strictObject({
  code: z.enum(FINDING_CODES),
  severity: z.enum(['refuse', 'acknowledge', 'advise']),
  pointer: z.string(),
  message: z.string(),
  fix: z.string(),
  evidence: z
    .string()
    .optional()
    .describe('What proving saw: the end of a log, or the diff that passed.'),
  acknowledgement: z.string().nullable(),
});

export const ContractSummary = z.strictObject({
  id: ContractIdField,
  state: z.enum(CONTRACT_STATES),
  title: z.string(),
  kind: z.enum(CONTRACT_KINDS),
  repository: z.strictObject({ url: z.string(), baseCommit: z.string() }),
  digest: z
    .string()
    .nullable()
    .describe('Over the whole document: null for those who do not see its hidden criteria.'),
  requesterId: z.string(),
  reward: z.strictObject({ amountMinor: AmountField, currency: z.string() }),
  closesAt: TimeField,
  inviteOnly: z.boolean(),
  invited: z.boolean().describe('Whether the caller is among the invited.'),
  createdAt: TimeField,
  fundedAt: TimeField.nullable(),
  endedAt: TimeField.nullable(),
});

export const ContractView = ContractSummary.extend({
  approval: z
    .strictObject({
      state: z.enum(['NONE', 'QUEUED', 'RUNNING', 'REFUSED', 'FAILED', 'DONE']),
      problem: z.string().nullable(),
      findings: z.array(FindingView),
    })
    .nullable()
    .describe('Null for others than the requester and the operator.'),
});

export function toContractSummary(
  row: ContractListRow,
  sight: Sight,
): z.infer<typeof ContractSummary> {
  return {
    id: row.id,
    state: row.state,
    title: row.title,
    kind: kindOf(row),
    repository: { url: row.repositoryUrl, baseCommit: row.baseCommit },
    digest: seesHidden(sight) ? row.digest : null,
    requesterId: row.requesterId,
    reward: { amountMinor: row.rewardMinor.toString(), currency: row.currency },
    closesAt: toTime(row.closesAt),
    inviteOnly: row.inviteOnly,
    invited: sight.isInvited,
    createdAt: toTime(row.createdAt),
    fundedAt: toTimeOrNull(row.fundedAt),
    endedAt: toTimeOrNull(row.endedAt),
  };
}

export function toContractView(row: ContractRow, sight: Sight): z.infer<typeof ContractView> {
  const { approvalState: state, approvalProblem: problem, findings } = row;
  const approval = { state, problem, findings: findings.map((each) => ({ ...each })) };
  return { ...toContractSummary(row, sight), approval: seesOwners(sight) ? approval : null };
}

function kindOf({ contractKind }: ContractListRow): (typeof CONTRACT_KINDS)[number] {
  const kind = CONTRACT_KINDS.find((each) => each === contractKind);
  if (kind === undefined) throw new TypeError('expected a contract kind in the database');
  return kind;
}

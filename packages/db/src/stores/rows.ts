import type { Finding } from '@kervyxa/contract';
import { type ReasonCode, ReasonCodeSchema, VerdictSchema, type Verdict } from '@kervyxa/core';
import {
  CHALLENGE_KINDS,
  CHALLENGE_STATES,
  CONTRACT_STATES,
  RUN_PURPOSES,
  RUN_STATES,
  SUBMISSION_STATES,
} from '@kervyxa/settlement';
import {
  type Challenge,
  type Contract,
  Prisma,
  type Principal,
  type Resolution,
  type Run,
  type Submission,
} from '../generated/client.ts';
import {
  type ChallengeRow,
  type ContractListRow,
  type ContractRow,
  type PrincipalRow,
  ROLES,
  type RunListRow,
  type RunRow,
  type SubmissionRow,
} from '../ports.ts';
import { columnsOf } from './sql.ts';

const APPROVAL_STATES = ['NONE', 'QUEUED', 'RUNNING', 'REFUSED', 'FAILED', 'DONE'] as const;

/** What stands between SELECT and FROM, for the tables by these aliases. */
export const CONTRACT_COLUMNS = `${columnsOf(Prisma.ContractScalarFieldEnum, 'c')},
  (SELECT e.funded_at FROM escrows e WHERE e.contract_id = c.id) AS "fundedAt"`;
/** The same without the texts that may be long. */
export const LISTED_CONTRACT_COLUMNS = `${columnsOf(Prisma.ContractScalarFieldEnum, 'c', ['document', 'findings'])},
  (SELECT e.funded_at FROM escrows e WHERE e.contract_id = c.id) AS "fundedAt"`;
export const SUBMISSION_COLUMNS = columnsOf(Prisma.SubmissionScalarFieldEnum, 's');

/** What decides, without the texts that may be long: every command reads them, of a thousand submissions maybe. */
export type ContractTermsRow = Omit<Contract, 'document' | 'findings'>;
export const TERMS_COLUMNS = columnsOf(Prisma.ContractScalarFieldEnum, 'c', [
  'document',
  'findings',
]);
export type RunTermsRow = Omit<Run, 'result'>;
export const RUN_COLUMNS = columnsOf(Prisma.RunScalarFieldEnum, 'r', ['result']);
export type ChallengeTermsRow = Omit<Challenge, 'evidence'>;
export const CHALLENGE_COLUMNS = columnsOf(Prisma.ChallengeScalarFieldEnum, 'h', ['evidence']);

export type ContractRecord = Contract & { readonly fundedAt: Date | null };
export type ListedContractRecord = ContractTermsRow & { readonly fundedAt: Date | null };

/** The same for Prisma. */
export const WITH_ESCROW = { escrow: { select: { fundedAt: true } } } as const;
type ContractWithEscrow = Contract & { readonly escrow: { readonly fundedAt: Date } | null };

export function toPrincipalRow(row: Principal): PrincipalRow {
  const { id, name, invitedById, createdAt } = row;
  return { id, name, roles: row.roles.map((role) => toOneOf(ROLES, role)), invitedById, createdAt };
}

export function toContractRow(row: ContractRecord | ContractWithEscrow): ContractRow {
  const fundedAt = 'escrow' in row ? (row.escrow?.fundedAt ?? null) : row.fundedAt;
  return {
    ...toContractListRow({ ...row, fundedAt }),
    document: row.document,
    // Written by `finishApproval` alone, whose argument is of this type.
    findings: row.findings as unknown as readonly Finding[],
  };
}

export function toContractListRow(row: ListedContractRecord): ContractListRow {
  return {
    id: row.id,
    seq: row.seq,
    requesterId: row.requesterId,
    state: toOneOf(CONTRACT_STATES, row.state),
    digest: row.digest,
    title: row.title,
    contractKind: row.contractKind,
    repositoryUrl: row.repositoryUrl,
    baseCommit: row.baseCommit,
    packageSha256: row.packageSha256,
    dependenciesSha256: row.dependenciesSha256,
    closesAt: row.closesAt,
    rewardMinor: row.rewardMinor,
    currency: row.currency,
    approvalState: toOneOf(APPROVAL_STATES, row.approvalState),
    approvalProblem: row.approvalProblem,
    baseBlob: row.baseBlob,
    provingBlob: row.provingBlob,
    inviteOnly: row.inviteOnly,
    invitedIds: row.invitedIds,
    createdAt: row.createdAt,
    fundedAt: row.fundedAt,
    endedAt: row.endedAt,
  };
}

export function toSubmissionRow(row: Submission): SubmissionRow {
  return {
    id: row.id,
    seq: row.seq,
    contractId: row.contractId,
    solverId: row.solverId,
    repositoryUrl: row.repositoryUrl,
    commit: row.commit,
    state: toOneOf(SUBMISSION_STATES, row.state),
    receivedAt: row.receivedAt,
    capturedAt: row.capturedAt,
    sourceBlob: row.sourceBlob,
    tree: row.tree,
    windowOpensAt: row.windowOpensAt,
    windowClosesAt: row.windowClosesAt,
    verdict: toVerdict(row.verdict),
    reason: row.reason,
    resultDigest: row.resultDigest,
  };
}

export function toRunRow(row: Run): RunRow {
  return { ...toRunListRow(row), result: row.result };
}

export function toRunListRow(row: RunTermsRow): RunListRow {
  return {
    id: row.id,
    submissionId: row.submissionId,
    contractId: row.contractId,
    purpose: toOneOf(RUN_PURPOSES, row.purpose),
    state: toOneOf(RUN_STATES, row.state),
    attempt: row.attempt,
    tries: row.tries,
    verdict: toVerdict(row.verdict),
    reason: row.reason,
    resultDigest: row.resultDigest,
    createdAt: row.createdAt,
    startedAt: row.startedAt,
    finishedAt: row.finishedAt,
  };
}

export function toChallengeRow(row: Challenge, resolutions: readonly Resolution[]): ChallengeRow {
  return {
    id: row.id,
    contractId: row.contractId,
    submissionId: row.submissionId,
    challengerId: row.challengerId,
    kind: toOneOf(CHALLENGE_KINDS, row.kind),
    state: toOneOf(CHALLENGE_STATES, row.state),
    bondMinor: row.bondMinor,
    evidence: row.evidence,
    filedAt: row.filedAt,
    respondBy: row.respondBy,
    decideBy: row.decideBy,
    endedAt: row.endedAt,
    runIds: row.runIds,
    resolutions: resolutions.map(({ arbiterId, decision, statement, at }) => ({
      arbiterId,
      decision: toOneOf(CHALLENGE_KINDS, decision),
      statement,
      at,
    })),
  };
}

/** A text that a CHECK constraint keeps to these values. */
export function toOneOf<const T extends string>(values: readonly T[], text: string): T {
  const found = values.find((value) => value === text);
  if (found === undefined) {
    throw new Error(`expected one of ${values.join(', ')}, got ${JSON.stringify(text)}`);
  }
  return found;
}

export function toReason(text: string | null): ReasonCode | null {
  return text === null ? null : ReasonCodeSchema.parse(text);
}

function toVerdict(text: string | null): Verdict | null {
  return text === null ? null : VerdictSchema.parse(text);
}

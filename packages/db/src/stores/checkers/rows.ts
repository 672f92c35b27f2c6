import {
  CheckCaseSchema,
  ProblemCaseSchema,
  type ReviewProtocol,
  ReviewProtocolSchema,
  type VerifierContract,
} from '@kervyxa/checker';
import {
  type Check,
  type EntryArtifact,
  type Implementation,
  Prisma,
  type Problem,
  type Verifier,
  type VerifierContract as VerifierContractRecord,
} from '../../generated/client.ts';
import {
  type CheckRow,
  type EntryRow,
  IMPLEMENTATION_STATES,
  type ImplementationRow,
  type ProblemItem,
  type ProblemRow,
  type PublishedContractRow,
  type VerifierRow,
} from '../../checker-rows.ts';
import { createDbError } from '../../errors.ts';
import { toOneOf } from '../rows.ts';
import { columnsOf } from '../sql.ts';

const ProblemItemSchema = ProblemCaseSchema.omit({ entrants: true });

/** What stands between SELECT and WHERE, for the tables by these aliases. */
export const VERIFIERS = `${columnsOf(Prisma.VerifierScalarFieldEnum, 'v')} FROM verifiers v`;
/** The current one is the highest version that is not withdrawn. */
export const CONTRACTS = `${columnsOf(Prisma.VerifierContractScalarFieldEnum, 'c')}, v.owner_id AS "ownerId",
  c.yanked_at IS NULL AND NOT EXISTS (
    SELECT FROM verifier_contracts newer
    WHERE newer.verifier_id = c.verifier_id AND newer.version_number > c.version_number AND newer.yanked_at IS NULL
  ) AS "isCurrent" FROM verifier_contracts c JOIN verifiers v ON v.id = c.verifier_id`;
/** The current one is the latest that conforms; what is newer and does not, or has yet to, disables none. */
export const IMPLEMENTATIONS = `${columnsOf(Prisma.ImplementationScalarFieldEnum, 'i')},
  i.state = 'CONFORMANT' AND NOT EXISTS (
    SELECT FROM implementations newer
    WHERE newer.contract_id = i.contract_id AND newer.stage_key = i.stage_key AND newer.seq > i.seq
      AND newer.state = 'CONFORMANT'
  ) AS "isCurrent" FROM implementations i`;
export const PROBLEMS = `${columnsOf(Prisma.ProblemScalarFieldEnum, 'p')} FROM problems p`;
const PROBLEM_COLUMNS = columnsOf(Prisma.ProblemScalarFieldEnum, 'p', ['facts']);
/** Without the participants, of whom each may have thousands. */
export const PROBLEM_ITEMS = `${PROBLEM_COLUMNS}, p.facts - 'entrants' AS facts FROM problems p`;
/** With those participants alone that $2 names. */
export const PROBLEMS_FOR = `${PROBLEM_COLUMNS}, p.facts || jsonb_build_object('entrants', (
    SELECT coalesce(jsonb_object_agg(each.key, each.value), '{}')
    FROM jsonb_each(p.facts -> 'entrants') each WHERE each.key = ANY($2)
  )) AS facts FROM problems p`;
export const ENTRIES = `${columnsOf(Prisma.EntryScalarFieldEnum, 'e')}, k.id AS "checkId", (
    SELECT coalesce(jsonb_agg(jsonb_build_object('role', a.role, 'filename', a.filename, 'mediaType', a.media_type,
      'sizeBytes', a.size_bytes::text, 'blob', a.blob) ORDER BY a.role), '[]')
    FROM entry_artifacts a WHERE a.entry_id = e.id
  ) AS artifacts FROM entries e JOIN checks k ON k.entry_id = e.id`;
export const CHECKS = `${columnsOf(Prisma.CheckScalarFieldEnum, 'k')}, p.owner_id AS "ownerId",
  p.contract_id AS "contractId" FROM checks k JOIN problems p ON p.id = k.problem_id`;

export type ContractRecord = VerifierContractRecord & {
  readonly ownerId: string;
  readonly isCurrent: boolean;
};
export type ImplementationRecord = Implementation & { readonly isCurrent: boolean };
export interface EntryRecord extends Omit<EntryRow, 'artifacts'> {
  readonly artifacts: readonly (Omit<EntryArtifact, 'entryId' | 'sizeBytes'> & {
    readonly sizeBytes: string;
  })[];
}
export type CheckRecord = Check & { readonly ownerId: string; readonly contractId: string };

export function toVerifierRow({ id, seq, ownerId, name, createdAt }: Verifier): VerifierRow {
  return { id, seq, ownerId, name, createdAt };
}

export function toPublishedRow(row: ContractRecord): PublishedContractRow {
  const { document: text, createdById: _creator, yankedAt, ...facts } = row;
  // Written by `publish` alone, whose argument is of this type.
  const published = JSON.parse(text) as VerifierContract;
  const document = { ...published, yanked_at: yankedAt?.toISOString() ?? null };
  return { ...facts, yankedAt, document };
}

export function toImplementationRow({ state, ...row }: ImplementationRecord): ImplementationRow {
  return { ...row, state: toOneOf(IMPLEMENTATION_STATES, state) };
}

export function toProblemRow({ id, seq, title, statement, facts, createdAt }: Problem): ProblemRow {
  return { id, seq, title, statement, facts: ProblemCaseSchema.parse(facts), createdAt };
}

export function toProblemItem({ facts, ...row }: Problem): ProblemItem {
  const { id, seq, title, statement, createdAt } = row;
  return { id, seq, title, statement, facts: ProblemItemSchema.parse(facts), createdAt };
}

export function toEntryRow({ artifacts, ...row }: EntryRecord): EntryRow {
  return {
    ...row,
    artifacts: artifacts.map((each) => ({ ...each, sizeBytes: BigInt(each.sizeBytes) })),
  };
}

export function toCheckRow(row: CheckRecord): CheckRow {
  const { id, seq, ownerId, contractId, evaluation, attestation, createdAt } = row;
  const facts = CheckCaseSchema.parse(row.facts);
  return { id, seq, facts, ownerId, contractId, evaluation, attestation, createdAt };
}

export function toReviewProtocol(id: string, document: string): ReviewProtocol {
  return ReviewProtocolSchema.parse({ ...(JSON.parse(document) as object), id });
}

/** `what` such as `a check`. */
export function createUnknown(what: string, id: string): Error {
  return createDbError('DB_SUBJECT_UNKNOWN', {
    message: `expected the id of ${what}, got ${JSON.stringify(id.slice(0, 80))}`,
  });
}

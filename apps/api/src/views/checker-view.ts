import type { ImplementationRow, PublishedContractRow } from '@kervyxa/db';
import { IMPLEMENTATION_STATES } from '@kervyxa/db';
import { z } from 'zod';
import {
  ImplementationIdField,
  KeyField,
  PrincipalIdField,
  PublishedContractIdField,
  TimeField,
  toTime,
  toTimeOrNull,
} from './fields.ts';

export const CheckerView = z.strictObject({
  id: PublishedContractIdField,
  verifierId: z.string().describe('The family; its versions are numbered from 1.'),
  ownerId: PrincipalIdField,
  versionNumber: z.int(),
  title: z.string(),
  digest: z.string().describe('Of the terms: equal terms are one contract.'),
  createdAt: TimeField,
  yankedAt: TimeField.nullable().describe('Since then it is offered for no new problem.'),
  isCurrent: z.boolean().describe('The highest version of its family that is not withdrawn.'),
});

export const CheckerDetail = CheckerView.extend({
  document: z.looseObject({}).describe('VerifierContract 0.5.0, as docs/checkers.md tells it.'),
});

export const ImplementationView = z.strictObject({
  id: ImplementationIdField,
  contractId: PublishedContractIdField,
  stageKey: KeyField,
  programDigest: z.string(),
  state: z.enum(IMPLEMENTATION_STATES),
  isCurrent: z.boolean().describe('The one that decides: the latest of its stage that conforms.'),
  report: z.looseObject({}).nullable().describe('What each conformance fixture came to.'),
  problem: z.string().nullable().describe('To owner and operator: why it could not be tried.'),
  createdAt: TimeField,
  endedAt: TimeField.nullable(),
});

export const PublicationView = CheckerView.extend({
  isNew: z.boolean().describe('False where these terms were published before.'),
  implementations: z.array(ImplementationView),
});

export function toCheckerView(row: PublishedContractRow): z.infer<typeof CheckerView> {
  return {
    id: row.id,
    verifierId: row.verifierId,
    ownerId: row.ownerId,
    versionNumber: row.versionNumber,
    title: row.document.title,
    digest: row.digest,
    createdAt: toTime(row.createdAt),
    yankedAt: toTimeOrNull(row.yankedAt),
    isCurrent: row.isCurrent,
  };
}

export function toCheckerDetail(row: PublishedContractRow): z.infer<typeof CheckerDetail> {
  return { ...toCheckerView(row), document: { ...row.document } };
}

export function toImplementationView(
  row: ImplementationRow,
  { seesOwners }: { readonly seesOwners: boolean },
): z.infer<typeof ImplementationView> {
  return {
    id: row.id,
    contractId: row.contractId,
    stageKey: row.stageKey,
    programDigest: row.programDigest,
    state: row.state,
    isCurrent: row.isCurrent,
    report: row.report === null ? null : z.looseObject({}).parse(JSON.parse(row.report)),
    problem: seesOwners ? row.problem : null,
    createdAt: toTime(row.createdAt),
    endedAt: toTimeOrNull(row.endedAt),
  };
}

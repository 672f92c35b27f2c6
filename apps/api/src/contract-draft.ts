import {
  ContractSchema,
  lintContract,
  type Contract,
  type Finding,
  type FindingCode,
  type OperatorSettings,
} from '@kervyxa/contract';
import { idSchemaOf } from '@kervyxa/core';
import { toContractDraft, type ContractDraft } from '@kervyxa/db';
import { createApiError } from './errors.ts';

/** Findings about the form: a document with one can't be kept as a draft, since nobody knows what it says. */
const FORM_CODES: readonly FindingCode[] = [
  'SCHEMA_INVALID',
  'BASE_COMMIT_NOT_PINNED',
  'IMAGE_NOT_PINNED',
  'REPOSITORY_URL_REFUSED',
  'LIMIT_OUT_OF_RANGE',
  'PATH_PATTERN_INVALID',
  'LANGUAGE_UNKNOWN',
  'REGEX_REFUSED',
  'DUPLICATE_CRITERION_ID',
  'THRESHOLD_NOT_FINITE',
];

/**
 * The draft of a document, with everything that approval can say without the base tree.
 *
 * Throws API_CONTRACT_REFUSED, whose details have every finding, where the form is refused.
 */
export function draftOf(
  document: unknown,
  operator: OperatorSettings,
): { readonly draft: ContractDraft; readonly findings: readonly Finding[] } {
  const findings = lintContract(document, null, operator);
  const parsed = ContractSchema.safeParse(document);
  if (!parsed.success || findings.some(({ code }) => FORM_CODES.includes(code))) {
    throw refused(findings);
  }
  assertInvitedIds(parsed.data);
  return { draft: toContractDraft(parsed.data), findings };
}

function refused(findings: readonly Finding[]): Error {
  return createApiError('API_CONTRACT_REFUSED', {
    message: `expected a contract of the documented form, got one with ${findings.length} ${findings.length === 1 ? 'finding' : 'findings'}`,
    fix: 'correct what `details.findings` lists; docs/contracts.md tells every field',
    details: { findings },
  });
}

const PrincipalId = idSchemaOf('principal');

/** Who is invited under another name than an id could never be let in. */
function assertInvitedIds({ submission }: Contract): void {
  const index = submission.invited.findIndex((id) => !PrincipalId.safeParse(id).success);
  if (index === -1) return;
  const pointer = `/submission/invited/${index}`;
  throw createApiError('API_CONTRACT_REFUSED', {
    message: `expected the id of a principal at ${pointer}, such as prn_…`,
    fix: 'invite solvers by the id that GET /v1/me tells them',
    details: { pointer },
  });
}

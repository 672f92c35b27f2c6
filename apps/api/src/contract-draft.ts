import {
  checkerDigestsOf,
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

export interface PostedDraft {
  readonly draft: ContractDraft;
  readonly findings: readonly Finding[];
  /** Digests of what it is to run with, each with what it is. */
  readonly packages: readonly { readonly what: string; readonly sha256: string }[];
}

/**
 * The draft of a document, with everything that approval can say without the base tree.
 *
 * Throws API_CONTRACT_REFUSED, whose details have every finding, where the form is refused, and API_PACKAGE_UNKNOWN
 * for a checker criterion that names no package.
 */
export function draftOf(document: unknown, operator: OperatorSettings): PostedDraft {
  const findings = lintContract(document, null, operator);
  const parsed = ContractSchema.safeParse(document);
  if (!parsed.success || findings.some(({ code }) => FORM_CODES.includes(code))) {
    throw refused(findings);
  }
  assertInvitedIds(parsed.data);
  assertCheckersNamed(parsed.data);
  const draft = toContractDraft(parsed.data);
  return { draft, findings, packages: packagesOf(parsed.data) };
}

function packagesOf(contract: Contract): PostedDraft['packages'] {
  const { verifierPackage, environment } = contract;
  const named = [
    { what: 'hidden package', sha256: verifierPackage?.sha256 },
    { what: 'dependency bundle', sha256: environment.dependencies?.sha256 },
    ...checkerDigestsOf(contract).map((sha256) => ({ what: 'checker package', sha256 })),
  ];
  return named.flatMap(({ what, sha256 }) => (sha256 === undefined ? [] : [{ what, sha256 }]));
}

/** Only the command line has a folder to take the digest of. */
function assertCheckersNamed({ criteria }: Contract): void {
  const index = criteria.findIndex((each) => each.type === 'checker' && each.checker === null);
  if (index === -1) return;
  const pointer = `/criteria/${index}/checker`;
  throw createApiError('API_PACKAGE_UNKNOWN', {
    message: `expected the digest of a checker package at ${pointer}, got none`,
    fix: 'upload it first with POST /v1/packages, and name its sha256 there',
    details: { pointer },
  });
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

import { AuthoredContractSchema, toTerms, type AuthoredContract } from '../contract/authored.ts';
import { contractFindings } from '../contract/contract-findings.ts';
import { readContractDraft, type ContractDraft } from '../contract/draft.ts';
import type { LintFinding } from '../contract/finding.ts';
import { sha256Hex } from '@kervyxa/core';
import type { ReviewProtocolTerms } from '../stages/review-protocol.ts';
import type { CheckerPackage, InputFile, StageProgram } from './checker-package.ts';
import { CONTRACT_FILE, PROBLEM_FILE } from './file-names.ts';
import { contractFolderOf, findFile, findFixtureFile, type FolderView } from './folder-view.ts';
import { findProgram, toProgram } from './implementation.ts';
import { readJsonFile } from './json-file.ts';
import { lintFixtures } from './lint-fixtures.ts';
import { readProblemFiles } from './lint-problem.ts';
import { lintPrograms } from './lint-programs.ts';
import { LinkSchema, lintReference, listReference, type ReferenceLink } from './lint-reference.ts';
import { readProtocol } from './lint-review.ts';
import { lintUnmet } from './lint-unmet.ts';
import type { ProblemDetails } from './problem.ts';

export interface ProblemReading {
  /** Its folder: empty, or ending with a slash. */
  readonly folder: string;
  /** Null where there is no `problem.json`, or a finding refuses it. */
  readonly details: ProblemDetails | null;
  readonly statement: string | null;
  /** Null where there is no contract in the folder, or a finding refuses any of it. */
  readonly package: CheckerPackage | null;
  /** By slot key: what is stated of content that is elsewhere. */
  readonly links: ReadonlyMap<string, ReferenceLink>;
  readonly findings: readonly LintFinding[];
}

/** Reads one problem, or a checker package without one. */
export function readProblem(view: FolderView, digest: string, isProblem: boolean): ProblemReading {
  const found = findFile(view, CONTRACT_FILE);
  const json = found === null ? null : readJsonFile(found.path, found.content);
  const contract =
    found === null || json === null || 'finding' in json
      ? null
      : { file: found.path, document: json.document, draft: readContractDraft(json.document) };
  const protocol = readProtocol(contract, view);
  const own = isProblem
    ? readProblemFiles(view, contract?.draft ?? null)
    : { details: null, statement: null, findings: [] };
  const parsed = AuthoredContractSchema.safeParse(contract?.document);
  const findings = [
    ...own.findings,
    ...(json !== null && 'finding' in json ? [json.finding] : []),
    ...(contract === null ? [] : lintContract(contract, view)),
    ...(contract !== null && parsed.success ? lintUnmet(contract.file, parsed.data, view) : []),
    // A contract that can't be read says nothing of slots.
    ...(found === null || contract !== null ? lintReference(contract, view, isProblem) : []),
    ...protocol.findings,
  ];
  const isRefused = findings.some(({ severity }) => severity === 'refuse');
  return {
    folder: view.own,
    details: own.details,
    statement: own.statement,
    package:
      isRefused || !parsed.success ? null : toPackage(parsed.data, view, digest, protocol.value),
    links: isRefused ? new Map() : linksOf(view),
    findings,
  };
}

interface ReadContract {
  readonly file: string;
  readonly document: unknown;
  readonly draft: ContractDraft;
}

function lintContract({ file, document, draft }: ReadContract, view: FolderView): LintFinding[] {
  return [
    ...contractFindings(file, AuthoredContractSchema, document),
    ...lintPrograms(file, draft, readerOf(view)),
    ...lintFixtures(file, draft, view),
  ];
}

function readerOf(view: FolderView): (path: string) => Uint8Array | null {
  const folder = contractFolderOf(view);
  return (path) => view.files.get(`${folder}${path}`) ?? null;
}

/** Only of what no finding refuses. */
function toPackage(
  authored: AuthoredContract,
  view: FolderView,
  digest: string,
  reviewProtocol: ReviewProtocolTerms | null,
): CheckerPackage {
  const programs = new Map<string, StageProgram>();
  for (const stage of authored.stages) {
    if (stage.kind !== 'sandbox') continue;
    const found = findProgram(stage.implementation, readerOf(view));
    if ('kind' in found) programs.set(stage.key, toProgram(stage, found));
  }
  const reference = new Map<string, InputFile>();
  for (const { slot, filename, content, isLink } of listReference(view)) {
    if (!isLink) reference.set(slot, { filename, mediaType: null, content });
  }
  return {
    digest,
    contract: toTerms(authored),
    contractId: authored.id ?? null,
    verifierId: authored.verifier_id ?? null,
    versionNumber: authored.version_number ?? null,
    programs,
    reference,
    fixtureFiles: fixtureFilesOf(authored, view),
    reviewProtocol,
  };
}

function fixtureFilesOf(authored: AuthoredContract, view: FolderView): Map<string, Uint8Array> {
  const files = authored.conformance_fixtures.flatMap(({ inputs }) => [
    ...Object.values(inputs.reference),
    ...inputs.artifacts,
  ]);
  return new Map(
    files.flatMap(({ filename }) => {
      const content = findFixtureFile(view, filename)?.content;
      return content === undefined ? [] : [[`sha256:${sha256Hex(content)}`, content] as const];
    }),
  );
}

function linksOf(view: FolderView): Map<string, ReferenceLink> {
  return new Map(
    listReference(view).flatMap(({ slot, path, content, isLink }) => {
      if (!isLink) return [];
      const json = readJsonFile(path, content);
      const parsed = LinkSchema.safeParse('finding' in json ? null : json.document);
      return parsed.success ? [[slot, parsed.data] as const] : [];
    }),
  );
}

/** Whether a folder, empty or ending with a slash, is a problem's. */
export function hasProblem(view: FolderView): boolean {
  return view.files.has(`${view.own}${PROBLEM_FILE}`);
}

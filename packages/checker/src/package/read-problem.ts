import { toTerms, type AuthoredContract } from '../contract/authored.ts';
import type { LintFinding } from '../contract/finding.ts';
import type { ReviewProtocolTerms } from '../stages/review-protocol.ts';
import type { CheckerPackage, InputFile, StageProgram } from './checker-package.ts';
import { CONTRACT_FILE, PROBLEM_FILE } from './file-names.ts';
import {
  contentHashOf,
  contractFolderOf,
  findFile,
  findFixtureFile,
  type FolderView,
  type FoundFile,
} from './folder-view.ts';
import { findProgram, toProgram } from './implementation.ts';
import { readJsonFile } from './json-file.ts';
import { lintFixtures } from './lint-fixtures.ts';
import { readProblemFiles } from './lint-problem.ts';
import { lintPrograms } from './lint-programs.ts';
import { LinkSchema, lintReference, listReference, type ReferenceLink } from './lint-reference.ts';
import { readProtocol } from './lint-review.ts';
import { lintUnmet } from './lint-unmet.ts';
import type { ProblemDetails } from './problem.ts';
import type { ContractReading } from './read-contract.ts';

export interface ProblemReading {
  /** Its folder: empty, or ending with a slash. */
  readonly folder: string;
  /** Null where there is no `problem.json`, or a finding refuses it. */
  readonly details: ProblemDetails | null;
  readonly statement: string | null;
  /** The contract that applies: its own or a shared one; null where there is none. */
  readonly contractFile: string | null;
  /** Null where there is no contract in the folder, or a finding refuses any of it. */
  readonly package: CheckerPackage | null;
  /** By slot key: what is stated of content that is elsewhere. */
  readonly links: ReadonlyMap<string, ReferenceLink>;
  readonly findings: readonly LintFinding[];
}

/** Reads one problem, or a checker package without one. */
export function readProblem(
  view: FolderView,
  digest: string,
  readContract: (found: FoundFile) => ContractReading,
): ProblemReading {
  const found = findFile(view, CONTRACT_FILE);
  const contract = found === null ? null : readContract(found);
  const isProblem = view.own !== view.shared || hasProblem(view);
  const named =
    contract === null || contract.draft === null
      ? null
      : { file: contract.file, draft: contract.draft };
  const protocol = readProtocol(named, view);
  const own = isProblem
    ? readProblemFiles(view, named?.draft ?? null)
    : { details: null, statement: null, findings: [] };
  const authored = contract?.authored ?? null;
  const findings = [
    ...own.findings,
    ...(contract?.findings ?? []),
    ...(named === null ? [] : lintPrograms(named.file, named.draft, readerOf(view))),
    ...(named === null ? [] : lintFixtures(named.file, named.draft, view)),
    ...(named === null || authored === null ? [] : lintUnmet(named.file, authored, view)),
    // A contract that can't be read says nothing of slots.
    ...(contract === null || named !== null ? lintReference(named, view, isProblem) : []),
    ...protocol.findings,
  ];
  const isRefused = findings.some(({ severity }) => severity === 'refuse');
  return {
    folder: view.own,
    details: own.details,
    statement: own.statement,
    contractFile: contract?.file ?? null,
    package:
      isRefused || authored === null ? null : toPackage(authored, view, digest, protocol.value),
    links: isRefused ? new Map() : linksOf(view),
    findings,
  };
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
      return content === undefined ? [] : [[contentHashOf(content), content] as const];
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

import { lintAcknowledgements, settle } from './acknowledgements.ts';
import { contractDigest } from './contract.ts';
import { readDraft, type Draft } from './draft.ts';
import { PUBLIC_SETTINGS, type BaseFacts, type OperatorSettings } from './facts.ts';
import { FINDING_CODES } from './finding-table.ts';
import type { Finding } from './finding.ts';
import { harnessesOf } from './harness.ts';
import { pointerKeys } from './pointer.ts';
import { lintCheckerArtifacts } from './rules-checker.ts';
import { lintCommandSyntax, lintExitStatus, lintShortLimits } from './rules-command.ts';
import {
  lintCriterionIds,
  lintImage,
  lintLanguages,
  lintPatterns,
  lintRepositoryUrls,
  lintSchema,
  lintWindows,
} from './rules-form.ts';
import {
  lintExistsOnly,
  lintGeneratedFiles,
  lintHeldOutSet,
  lintReferenceOutput,
  lintRegression,
} from './rules-kind.ts';
import { lintCountedWork } from './rules-counted.ts';
import { lintIdleThresholds, lintMetricKind, lintTimeUnits } from './rules-metric.ts';
import { lintNetwork, lintNetworkHarness, lintNetworkObjective } from './rules-network.ts';
import {
  lintBaseTree,
  lintClocks,
  lintConfig,
  lintHarness,
  lintInputs,
  lintProtectedLinks,
  lintTestCount,
  lintUnmatchedPaths,
} from './rules-protection.ts';
import { lintCompletion, lintPlaces, lintSameContainer } from './rules-secret.ts';
import { lintFloatingTarget, lintOpenEnded } from './rules-text.ts';
import { ContractSchema, type Contract } from './schema.ts';

type Rule = (draft: Draft, facts: BaseFacts | null, settings: OperatorSettings) => Finding[];

const RULES: readonly Rule[] = [
  (draft, _facts, settings) => lintRepositoryUrls(draft, settings),
  (draft, _facts, settings) => lintImage(draft, settings),
  (draft, _facts, settings) => lintWindows(draft, settings),
  lintLanguages,
  lintPatterns,
  lintCriterionIds,
  lintTimeUnits,
  lintMetricKind,
  lintIdleThresholds,
  lintCountedWork,
  lintCheckerArtifacts,
  lintExistsOnly,
  lintRegression,
  lintReferenceOutput,
  lintHeldOutSet,
  lintGeneratedFiles,
  lintSameContainer,
  lintCompletion,
  lintPlaces,
  lintOpenEnded,
  lintFloatingTarget,
  lintNetworkObjective,
  lintCommandSyntax,
  lintExitStatus,
  lintNetwork,
  lintNetworkHarness,
  lintInputs,
  lintHarness,
  lintConfig,
  lintUnmatchedPaths,
  lintProtectedLinks,
  lintTestCount,
  lintClocks,
  lintShortLimits,
  (_draft, facts) => lintBaseTree(facts),
];

/**
 * Everything that approval has to say about a document, sorted by place. Never throws, whatever the document is. With
 * `facts` null the codes of `TREE_RULES` are not, or not fully, checked.
 */
export function lintContract(
  document: unknown,
  facts: BaseFacts | null,
  settings: OperatorSettings = PUBLIC_SETTINGS,
): Finding[] {
  const draft = readDraft(document);
  const found = [...lintSchema(document), ...RULES.flatMap((rule) => rule(draft, facts, settings))];
  const findings = settle(withoutRepeats(found), draft);
  return sortFindings([...findings, ...lintAcknowledgements(findings, draft, facts)]);
}

export interface Approval {
  /** No finding refuses, and every one that wants an answer has it. */
  readonly approved: boolean;
  /** The canonical form; null where the schema refuses the document. */
  readonly contract: Contract | null;
  readonly digest: `sha256:${string}` | null;
  readonly findings: readonly Finding[];
}

/**
 * 1. Collect every finding. 2. Approve if none is open. 3. Name the contract by its digest.
 * Pure over its arguments; proving in containers comes after it. Never throws.
 */
export function approveContract(
  document: unknown,
  facts: BaseFacts | null,
  settings: OperatorSettings = PUBLIC_SETTINGS,
): Approval {
  const findings = lintContract(document, facts, settings);
  const parsed = ContractSchema.safeParse(document);
  return {
    approved: parsed.success && !findings.some(isOpen),
    contract: parsed.success ? parsed.data : null,
    digest: parsed.success ? contractDigest(parsed.data) : null,
    findings,
  };
}

/** Whether a finding keeps a contract from opening. */
export function isOpen({ severity, acknowledgement }: Finding): boolean {
  return severity === 'refuse' || (severity === 'acknowledge' && acknowledgement === null);
}

/** The files of the base tree whose texts lint wants to see: package.json and the scripts that judge. */
export function interestingBaseFiles(paths: readonly string[], document: unknown): string[] {
  const draft = readDraft(document);
  const scripts = harnessesOf(draft, null).flatMap(({ harness }) => harness.scripts);
  const inBase = new Set(paths);
  const measuring = paths.filter((path) => /(^|[/._-])(bench|measure|perf)/i.test(path));
  return [...new Set(['package.json', ...scripts, ...measuring.slice(0, MEASURING_MAX)])].filter(
    (path) => inBase.has(path),
  );
}

// npm scripts may name any of these; more than this many are no harness but a suite.
const MEASURING_MAX = 20;

/** Two rules may see one fault: the first word on a code, place and message counts. */
function withoutRepeats(findings: readonly Finding[]): Finding[] {
  const seen = new Set<string>();
  return findings.filter(({ code, pointer, message }) => {
    const isFormal = code === 'DUPLICATE_CRITERION_ID' || code === 'IMAGE_NOT_PINNED';
    const key = JSON.stringify(isFormal ? [code, pointer] : [code, pointer, message]);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

/** By place in the document, then as the codes are listed. */
export function sortFindings(findings: readonly Finding[]): Finding[] {
  return findings.toSorted(byPlace);
}

function byPlace(left: Finding, right: Finding): number {
  const leftKeys = pointerKeys(left.pointer);
  const rightKeys = pointerKeys(right.pointer);
  for (const [index, leftKey] of leftKeys.entries()) {
    const rightKey = rightKeys[index];
    if (rightKey === undefined) return 1;
    if (leftKey !== rightKey) return compareKeys(leftKey, rightKey);
  }
  if (leftKeys.length !== rightKeys.length) return -1;
  return FINDING_CODES.indexOf(left.code) - FINDING_CODES.indexOf(right.code);
}

function compareKeys(left: string, right: string): number {
  const difference = Number(left) - Number(right);
  if (!Number.isNaN(difference) && difference !== 0) return difference;
  return left < right ? -1 : 1;
}

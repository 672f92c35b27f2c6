import { lintFindingOf, type LintFinding } from '../contract/finding.ts';
import { CAMPAIGN_FILE, CONTRACT_FILE } from './file-names.ts';
import type { CheckerPackage } from './checker-package.ts';
import type { FolderFiles, FolderView } from './folder-view.ts';
import { parseJsonFile } from './lint-problem.ts';
import { lintUnknownFiles } from './lint-unknown.ts';
import { CampaignDetailsSchema, type CampaignDetails } from './problem.ts';
import { createContractReader } from './read-contract.ts';
import { hasProblem, readProblem, type ProblemReading } from './read-problem.ts';

export interface FolderReading {
  /** Null where the folder is no campaign, or a finding refuses `campaign.json`. */
  readonly campaign: CampaignDetails | null;
  /** In the order of their folders; one that is the whole folder outside a campaign. */
  readonly problems: readonly ProblemReading[];
  /** All of them, each once, in the order of reading. */
  readonly findings: readonly LintFinding[];
}

/**
 * Reads a folder of any form: a checker package alone, a problem, or a campaign with problems. `digest` is the SHA-256
 * of its sealed form, 64 hex digits.
 */
export function readCheckerFolder(files: FolderFiles, digest: string): FolderReading {
  const campaign = files.get(CAMPAIGN_FILE);
  const readContract = createContractReader();
  const unknown = lintUnknownFiles(files, readContract);
  if (campaign === undefined) {
    const view = { files, own: '', shared: '' };
    const problem = readProblem(view, digest, readContract);
    const isEmpty = !files.has(CONTRACT_FILE) && !hasProblem(view);
    // Where all is unknown, the folder is another one than was meant.
    const findings = isEmpty ? [nothingThere()] : [...problem.findings, ...unknown];
    return { campaign: null, problems: [problem], findings };
  }
  const details = parseJsonFile(CAMPAIGN_FILE, campaign, CampaignDetailsSchema);
  const problems = viewsOf(files).map((view) => readProblem(view, digest, readContract));
  return {
    campaign: details.value,
    problems,
    findings: unique([
      ...details.findings,
      ...(problems.length === 0 ? [emptyCampaign()] : []),
      ...sameSlugs(problems),
      ...problems.flatMap((problem) => problem.findings),
      ...unknown,
    ]),
  };
}

export interface PackageReading {
  /** Null where a finding refuses it. */
  readonly package: CheckerPackage | null;
  /** All of them, in the order of reading. */
  readonly findings: readonly LintFinding[];
}

/** The one checker package of a folder, as a criterion of a kervyxa contract and a publication want it. */
export function readCheckerPackage(files: FolderFiles, digest: string): PackageReading {
  const { problems, findings } = readCheckerFolder(files, digest);
  const [problem] = problems;
  const isRefused = findings.some(({ severity }) => severity === 'refuse');
  if (problem !== undefined && problems.length === 1 && (isRefused || problem.package !== null)) {
    return { package: isRefused ? null : problem.package, findings };
  }
  const words = {
    message: `expected one checker package, got ${problems.length === 1 ? 'a problem without a contract' : `a campaign of ${problems.length} problems`}`,
    fix:
      problems.length === 1
        ? 'Write verifier-contract.json: without it nothing is checked.'
        : 'Give the folder of one problem, with what it shares with its campaign copied into it.',
  };
  const missing = lintFindingOf('contract_missing', { file: CONTRACT_FILE }, words);
  return { package: null, findings: [...findings, missing] };
}

/** The problems of a campaign. */
export function viewsOf(files: FolderFiles): FolderView[] {
  const names = [...files.keys()].flatMap((path) => /^problems\/([^/]+)\//.exec(path)?.[1] ?? []);
  return [...new Set(names)]
    .toSorted()
    .map((name) => ({ files, own: `problems/${name}/`, shared: '' }));
}

function nothingThere(): LintFinding {
  const words = {
    message: `expected ${CONTRACT_FILE}, problem.json or ${CAMPAIGN_FILE} in the folder, got none`,
    fix: 'Give the folder that holds it; "kervyxa checker init DIR" writes a new one.',
  };
  return lintFindingOf('contract_missing', { file: CONTRACT_FILE }, words);
}

function emptyCampaign(): LintFinding {
  const words = {
    message: 'expected folders in problems/, got none',
    fix: 'Write problem.json and statement.md into problems/NAME/.',
  };
  return lintFindingOf('campaign_empty', { file: CAMPAIGN_FILE }, words);
}

function sameSlugs(problems: readonly ProblemReading[]): LintFinding[] {
  const seen = new Set<string>();
  return problems.flatMap(({ folder, details }) => {
    if (details === null || !seen.has(details.slug)) {
      if (details !== null) seen.add(details.slug);
      return [];
    }
    const words = {
      message: `expected every problem once, got the slug "${details.slug}" again`,
      fix: 'Give every problem a slug of its own.',
    };
    return [
      lintFindingOf('key_duplicated', { file: `${folder}problem.json`, pointer: '/slug' }, words),
    ];
  });
}

/** What is shared is read for every problem, and told of once. */
function unique(findings: readonly LintFinding[]): LintFinding[] {
  return [...new Map(findings.map((each) => [JSON.stringify(each), each])).values()];
}

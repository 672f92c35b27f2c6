import { Command } from 'commander';
import {
  contractDigest,
  isOpen,
  parseContract,
  type BaseFacts,
  type OperatorSettings,
} from '@kervyxa/contract';
import { toPrintable, type CommitSha } from '@kervyxa/core';
import type { BaseTree } from '@kervyxa/intake';
import { lintCheckers, loadBaseFacts } from '@kervyxa/verifier';
import type { CommandContext } from '../context.ts';
import {
  baseCommitOf,
  lintDocument,
  locate,
  readContractDocument,
  type ContractDocument,
  type LintOutcome,
} from '../contract-document.ts';
import type { Screen } from '../host.ts';
import { toFindingsSummary, toFindingsText } from '../present/findings.ts';
import { paragraph } from '../present/text.ts';
import { toJsonText } from '../present/json.ts';
import { CHECKER_OPTION, loadCheckers, type RunInputReader } from '../run-inputs.ts';

export interface LintOptions {
  readonly repo?: string;
  readonly checker?: readonly string[];
  readonly json?: boolean;
}

/** What lint asks of the machine that it runs on. */
export interface LintMachine {
  readonly settings: OperatorSettings;
  readonly openBase: OpenBase;
  readonly loadChecker: RunInputReader['loadChecker'];
}

/** How a base tree is had; the real one is `io/base-repository.ts`. */
export type OpenBase = (
  repository: string,
  baseCommit: CommitSha,
  signal: AbortSignal,
) => Promise<BaseTree>;

const EXIT_REFUSED = 1;
const EXIT_UNREADABLE = 2;

export function lintCommand(context: CommandContext): Command {
  return new Command('lint')
    .summary('say what approval has against a contract')
    .description('Say what approval has against a contract, and how to mend it.')
    .argument('<file>', 'the contract (.json, .yaml, .yml; - for JSON on stdin)')
    .option('--repo <path-or-url>', 'a repository with the base commit, for more rules')
    .option(...CHECKER_OPTION)
    .option('--json', 'print the findings as JSON')
    .addHelpText('after', HELP)
    .action(async (file: string, options: LintOptions) => {
      context.toExitCode = ({ fault, exitCode }) => (fault === 'bug' ? exitCode : EXIT_UNREADABLE);
      const { loadSettings } = await import('../io/settings.ts');
      const { openBaseRepository } = await import('../io/base-repository.ts');
      const settings = loadSettings(context.host);
      const openBase = openBaseRepository(context.host, settings.allowedOrigins);
      const { loadCheckerPackage: loadChecker } = await import('../io/checker-package.ts');
      const machine = { settings, openBase, loadChecker };
      context.exitCode = await runLint(file, options, context, machine);
    });
}

const HELP = `
A finding is "refuse" (nothing overrides it), "acknowledge" (needs an entry in
acknowledgements, with a reason) or "advise". Line and column are those of the
value that its JSON Pointer names. docs/contracts.md tells how to write one.

Examples:
  $ kervyxa lint contract.json
  $ kervyxa lint contract.yaml --repo ../parse-numbers
  $ kervyxa lint contract.json --checker ./my-checker
  $ kervyxa lint - --json < contract.json | jq -r '.findings[].code'

Exit codes:
  0 clean: at most advice and what is acknowledged
  1 refused
  2 usage, or the contract or the base tree can not be read`;

/** Answers the exit code. */
export async function runLint(
  file: string,
  options: LintOptions,
  { host, interrupts }: CommandContext,
  { settings, openBase, loadChecker }: LintMachine,
): Promise<number> {
  const document = await readContractDocument(file, host);
  interrupts.onFirst((name) => host.stderr.write(`${name}: removing what was fetched\n`));
  const facts = await loadFacts(document, options, openBase, interrupts.signal);
  const linted = lintDocument(document, facts, settings);
  const outcome = await withCheckers(document, linted, options, loadChecker);
  host.stdout.write(
    options.json === true
      ? toJsonText(toJson(outcome))
      : `${toText(outcome, document.name, host.stdout)}\n`,
  );
  return outcome.findings.some(isOpen) ? EXIT_REFUSED : 0;
}

/** Null where no repository is given, or where the document does not say which commit of it. */
async function loadFacts(
  document: ContractDocument,
  { repo }: LintOptions,
  openBase: OpenBase,
  signal: AbortSignal,
): Promise<BaseFacts | null> {
  const baseCommit = baseCommitOf(document);
  if (repo === undefined || baseCommit === null) return null;
  const base = await openBase(repo, baseCommit, signal);
  try {
    return await loadBaseFacts(base, document.text.document);
  } finally {
    await base.close();
  }
}

/** The digests of packages that are given, and whether criteria fit them; nothing of a document that is no contract. */
async function withCheckers(
  document: ContractDocument,
  outcome: LintOutcome,
  { checker: folders }: LintOptions,
  loadChecker: LintMachine['loadChecker'],
): Promise<LintOutcome> {
  if (folders === undefined || outcome.contractDigest === null) return outcome;
  const asked = parseContract(document.text.document);
  const { contract, checkers } = await loadCheckers(asked, folders, { loadChecker });
  return {
    ...outcome,
    findings: [...outcome.findings, ...locate(lintCheckers(contract, checkers), document)],
    contractDigest: contractDigest(contract),
  };
}

function toJson({ findings, uncheckedRules, contractDigest: digest }: LintOutcome) {
  return { clean: !findings.some(isOpen), contractDigest: digest, findings, uncheckedRules };
}

function toText(outcome: LintOutcome, name: string, screen: Screen): string {
  const { findings, uncheckedRules, contractDigest: digest } = outcome;
  const { colors, columns } = screen;
  const isRefused = findings.some(isOpen);
  const verdict = isRefused ? colors.red('refused') : colors.green('clean');
  const parts = [
    toFindingsText(findings, name, screen),
    `${colors.bold(verdict)}  ${toPrintable(name)}: ${toFindingsSummary(findings)}`,
    digest === null ? '' : `contract ${digest}`,
    uncheckedRules.length === 0
      ? ''
      : paragraph(
          `Not fully checked without the base tree (--repo): ${uncheckedRules.join(', ')}`,
          columns,
          '',
        ),
  ];
  const [blocks = '', ...rest] = parts;
  const end = rest.filter((part) => part !== '').join('\n');
  return blocks === '' ? end : `${blocks}\n\n${end}`;
}

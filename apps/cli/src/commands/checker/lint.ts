import {
  fixFixtures,
  lintEvidenceSchemas,
  readCheckerFolder,
  type FixedFile,
  type FolderReading,
  type LintFinding,
} from '@kervyxa/checker';
import { toPrintable } from '@kervyxa/core';
import { Command } from 'commander';
import type { CommandContext } from '../../context.ts';
import type { Screen } from '../../host.ts';
import { loadCheckerFolder, type CheckerFolder } from '../../io/checker-folder.ts';
import { replaceFile } from '../../io/package-files.ts';
import { toJsonText } from '../../present/json.ts';
import { toLintFindingsText, toLintSummary } from '../../present/lint-findings.ts';
import { count } from '../../present/text.ts';

export interface CheckerLintOptions {
  readonly fix?: boolean;
  readonly json?: boolean;
}

const EXIT_REFUSED = 1;
const EXIT_UNREADABLE = 2;

export function checkerLintCommand(context: CommandContext): Command {
  return new Command('lint')
    .summary('say what is wrong with a checker package')
    .description('Say what is wrong with a checker package, and how to mend it.')
    .argument('<dir>', 'the folder of a package, a problem or a campaign')
    .option('--fix', 'write the hashes and sizes of fixtures, and nothing else')
    .option('--json', 'print the findings as JSON')
    .addHelpText('after', HELP)
    .action(async (folder: string, options: CheckerLintOptions) => {
      context.toExitCode = ({ fault, exitCode }) =>
        fault === 'caller' ? EXIT_UNREADABLE : exitCode;
      context.exitCode = await runCheckerLint(folder, options, context);
    });
}

const HELP = `
Nothing is run and nothing is fetched. A finding is "refuse", or "advise", which
keeps nobody from going on. docs/checkers.md has every code.

Examples:
  $ kervyxa checker lint ./my-checker
  $ kervyxa checker lint ./my-checker --fix
  $ kervyxa checker lint ./my-checker --json | jq -r '.findings[].code'

Exit codes:
  0 clean: at most advice
  1 refused
  2 usage, or the folder can not be read
  4 --fix could not write`;

/** Answers the exit code. */
export async function runCheckerLint(
  folder: string,
  options: CheckerLintOptions,
  { host, interrupts }: CommandContext,
): Promise<number> {
  const before = await loadCheckerFolder(folder, interrupts.signal);
  const fixed = options.fix === true ? fixFixtures(before.files) : [];
  for (const file of fixed) await replaceFile(folder, file);
  // Read again, so that what is told is true of what is there.
  const after = fixed.length === 0 ? before : await loadCheckerFolder(folder, interrupts.signal);
  const reading = readCheckerFolder(after.files, after.archive.digest);
  const findings = [...reading.findings, ...(await schemaFindings(reading))];
  const isClean = findings.every(({ severity }) => severity !== 'refuse');
  host.stdout.write(
    options.json === true
      ? toJsonText(toJson(after, findings, fixed))
      : `${toText(after, findings, fixed, host.stdout)}\n`,
  );
  return isClean ? 0 : EXIT_REFUSED;
}

/** Of each contract once, however many problems share it. */
async function schemaFindings({ problems }: FolderReading): Promise<LintFinding[]> {
  const contracts = new Map(
    problems.flatMap(({ package: checker, contractFile }) =>
      checker === null || contractFile === null ? [] : [[contractFile, checker.contract] as const],
    ),
  );
  const found = await Array.fromAsync(contracts, ([file, contract]) =>
    lintEvidenceSchemas(contract, file),
  );
  return found.flat();
}

function toJson(
  { archive }: CheckerFolder,
  findings: readonly LintFinding[],
  fixed: readonly FixedFile[],
) {
  return {
    clean: findings.every(({ severity }) => severity !== 'refuse'),
    sha256: archive.digest,
    findings,
    written: fixed.map(({ path, written }) => ({ file: path, pointers: written })),
  };
}

function toText(
  { name, archive }: CheckerFolder,
  findings: readonly LintFinding[],
  fixed: readonly FixedFile[],
  screen: Screen,
): string {
  const { colors } = screen;
  const isClean = findings.every(({ severity }) => severity !== 'refuse');
  const verdict = isClean ? colors.green('clean') : colors.red('refused');
  const parts = [
    ...fixed.map(
      ({ path, written }) =>
        `${toPrintable(path, 300)}: wrote ${count(written.length, 'hash or size', 'hashes and sizes')}`,
    ),
    ...(findings.length === 0 ? [] : [toLintFindingsText(findings, screen)]),
    `${colors.bold(verdict)}  ${toPrintable(name, 300)}: ${toLintSummary(findings)}\nsha256 ${archive.digest}`,
  ];
  return parts.join('\n\n');
}

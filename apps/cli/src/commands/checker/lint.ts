import { readCheckerPackage, type PackageReading } from '@kervyxa/checker';
import { toPrintable } from '@kervyxa/core';
import { Command } from 'commander';
import type { CommandContext } from '../../context.ts';
import type { Screen } from '../../host.ts';
import { loadCheckerFolder } from '../../io/checker-folder.ts';
import { toJsonText } from '../../present/json.ts';
import { toLintFindingsText, toLintSummary } from '../../present/lint-findings.ts';

export interface CheckerLintOptions {
  readonly json?: boolean;
}

const EXIT_REFUSED = 1;
const EXIT_UNREADABLE = 2;

export function checkerLintCommand(context: CommandContext): Command {
  return new Command('lint')
    .summary('say what is wrong with a checker package')
    .description('Say what is wrong with a checker package, and how to mend it.')
    .argument('<dir>', 'the folder of the package')
    .option('--json', 'print the findings as JSON')
    .addHelpText('after', HELP)
    .action(async (folder: string, options: CheckerLintOptions) => {
      context.toExitCode = ({ fault, exitCode }) => (fault === 'bug' ? exitCode : EXIT_UNREADABLE);
      context.exitCode = await runCheckerLint(folder, options, context);
    });
}

const HELP = `
Nothing is run and nothing is fetched. A finding is "refuse", or "advise", which
keeps nobody from going on. docs/checkers.md has every code.

Examples:
  $ kervyxa checker lint ./my-checker
  $ kervyxa checker lint ./my-checker --json | jq -r '.findings[].code'

Exit codes:
  0 clean: at most advice
  1 refused
  2 usage, or the folder can not be read`;

/** Answers the exit code. */
export async function runCheckerLint(
  folder: string,
  options: CheckerLintOptions,
  { host, interrupts }: CommandContext,
): Promise<number> {
  const { files, archive } = await loadCheckerFolder(folder, interrupts.signal);
  const reading = readCheckerPackage(files, archive.digest);
  const isClean = reading.findings.every(({ severity }) => severity !== 'refuse');
  host.stdout.write(
    options.json === true
      ? toJsonText({ clean: isClean, digest: archive.digest, findings: reading.findings })
      : `${toText(reading, folder, archive.digest, host.stdout)}\n`,
  );
  return isClean ? 0 : EXIT_REFUSED;
}

function toText(
  { findings }: PackageReading,
  folder: string,
  digest: string,
  screen: Screen,
): string {
  const { colors } = screen;
  const isClean = findings.every(({ severity }) => severity !== 'refuse');
  const verdict = isClean ? colors.green('clean') : colors.red('refused');
  const blocks = findings.length === 0 ? '' : `${toLintFindingsText(findings, screen)}\n\n`;
  return `${blocks}${colors.bold(verdict)}  ${toPrintable(folder)}: ${toLintSummary(findings)}\nsha256 ${digest}`;
}

import type { ConformanceReport } from '@kervyxa/checker';
import { toPrintable } from '@kervyxa/core';
import { Command } from 'commander';
import type { CommandContext } from '../../context.ts';
import { cliError } from '../../errors.ts';
import type { CheckerMachine, NamedPackage } from '../../io/checker-machine.ts';
import { toConformanceText, toFixtureLine } from '../../present/checker-report.ts';
import { toJsonText } from '../../present/json.ts';
import { createProgress } from '../../present/progress.ts';

export interface CheckerTestOptions {
  readonly stage?: string;
  readonly json?: boolean;
}

/** The fixtures of one package, stage by stage. */
interface PackageReport {
  readonly name: string;
  readonly digest: string;
  readonly conformant: boolean;
  readonly stages: readonly ConformanceReport[];
}

const EXIT_MISSED = 1;
const EXIT_USAGE = 2;
const EXIT_ERROR = 4;

export function checkerTestCommand(context: CommandContext): Command {
  return new Command('test')
    .summary('run a checker package on its own fixtures')
    .description('Run the programs of a checker package on its fixtures, in containers.')
    .argument('<dir>', 'the folder of the package, or of a campaign')
    .option('--stage <key>', 'only this stage')
    .option('--json', 'print the reports as JSON')
    .addHelpText('after', HELP)
    .action(async (folder: string, options: CheckerTestOptions) => {
      context.toExitCode = ({ fault }) => (fault === 'caller' ? EXIT_USAGE : EXIT_ERROR);
      const { createCheckerMachine } = await import('../../io/checker-machine.ts');
      const machine = createCheckerMachine(context.host);
      context.exitCode = await runCheckerTest(folder, options, context, machine);
    });
}

const HELP = `
Each fixture has a container of its own, without a network, as every run has. A
package that misses one, or has no fixture that is verified and one that is
refuted for each of its programs, verifies nothing. Without a container engine
nothing is run, and you are told how to get one.

Examples:
  $ kervyxa checker test ./my-checker
  $ kervyxa checker test ./my-checker --stage structure
  $ kervyxa checker test ./my-campaign --json | jq '.packages[].conformant'

Exit codes:
  0 every fixture is reproduced   1 not   2 usage, or lint refuses the package
  4 error
  130 after Ctrl-C, 143 after SIGTERM; containers are removed first`;

/** Answers the exit code. */
export async function runCheckerTest(
  folder: string,
  options: CheckerTestOptions,
  context: CommandContext,
  machine: CheckerMachine,
): Promise<number> {
  const { host } = context;
  const packages = await machine.loadPackages(folder);
  const chosen = packages.map((each) => ({ ...each, keys: chooseStages(each, options.stage) }));
  const reports = await testWithProgress(chosen, context, machine);
  const isConformant = reports.every(({ conformant }) => conformant);
  if (host.stdout.isTerminal && host.stderr.isTerminal) host.stdout.write('\n');
  host.stdout.write(
    options.json === true
      ? toJsonText({ conformant: isConformant, packages: reports })
      : `${reports.map(({ name, stages }) => toConformanceText(name, stages, host.stdout)).join('\n\n')}\n`,
  );
  return isConformant ? 0 : EXIT_MISSED;
}

/** A package of reviews alone has no program, and so nothing that fails. */
function chooseStages({ name, package: { programs } }: NamedPackage, only?: string): string[] {
  const keys = [...programs.keys()];
  if (only === undefined) return keys;
  if (programs.has(only)) return [only];
  throw cliError('CLI_USAGE_INVALID', {
    message: `expected --stage to be a sandbox stage of ${toPrintable(name, 300)} (${keys.join(', ') || 'it has none'}), got "${toPrintable(only, 100)}"`,
    fix: 'Give the key of a stage whose kind is sandbox.',
  });
}

async function testWithProgress(
  packages: readonly (NamedPackage & { readonly keys: readonly string[] })[],
  { host, interrupts }: CommandContext,
  machine: CheckerMachine,
): Promise<PackageReport[]> {
  const { signal } = interrupts;
  const progress = createProgress(host);
  interrupts.onFirst((name) => progress.note(`${name}: removing containers and volumes`));
  try {
    const deps = await machine.open({ log: progress.note, live: progress.live, signal });
    const reports: PackageReport[] = [];
    for (const { name, package: checker, keys } of packages) {
      const stages: ConformanceReport[] = [];
      for (const key of keys) {
        const report = await deps.conformance(deps, checker, key, signal, {
          onFixture: (fixture) => progress.note(toFixtureLine(fixture)),
        });
        stages.push(report);
      }
      const conformant = stages.every(({ isConformant }) => isConformant);
      reports.push({ name, digest: checker.digest, conformant, stages });
    }
    return reports;
  } catch (error) {
    if (error === signal.reason) progress.note('stopped');
    throw error;
  } finally {
    progress.stop();
  }
}

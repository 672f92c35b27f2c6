import { starterFiles } from '@kervyxa/checker';
import { toPrintable } from '@kervyxa/core';
import { Command } from 'commander';
import type { CommandContext } from '../../context.ts';
import { writeNewFolder } from '../../io/package-files.ts';

export interface CheckerInitOptions {
  readonly campaign?: boolean;
}

export function checkerInitCommand(context: CommandContext): Command {
  return new Command('init')
    .summary('write a small checker package to begin with')
    .description('Write a small checker package that works, to begin with.')
    .argument('<dir>', 'a folder that is not there yet, or empty')
    .option('--campaign', 'a campaign with one problem, which shares the checker')
    .addHelpText('after', HELP)
    .action((folder: string, options: CheckerInitOptions) => {
      runCheckerInit(folder, options, context);
    });
}

const HELP = `
The package decides whether the total of a report is the sum of its items: a
contract, one Python file, and fixtures that it is tried with. Nothing is ever
written over.

Examples:
  $ kervyxa checker init ./my-checker
  $ kervyxa checker init --campaign ./my-campaign

Exit codes:
  0 written
  2 usage, or the folder holds something
  4 it could not be written`;

export function runCheckerInit(
  folder: string,
  { campaign }: CheckerInitOptions,
  { host }: CommandContext,
): void {
  const files = starterFiles(campaign === true ? 'campaign' : 'checker');
  writeNewFolder(folder, files);
  const name = toPrintable(folder, 300);
  const { colors } = host.stdout;
  host.stdout.write(`${colors.bold(name)}
${[...files.keys()].map((path) => `  ${path}`).join('\n')}

Next:
  1. Say in verifier-contract.json what is accepted, and in what roles it comes.
  2. Write that down in checker.py, as a program.
  3. Put an answer that is right, one that is wrong and one that can't be read
     into fixtures/, and name them in conformance_fixtures.
  4. kervyxa checker lint ${name} --fix
     kervyxa checker test ${name}

docs/checkers.md explains every field.
`);
}

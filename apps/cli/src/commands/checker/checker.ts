import { Command } from 'commander';
import type { CommandContext } from '../../context.ts';
import { checkerPublishCommand } from '../remote/publish.ts';
import { checkerListCommand, checkerShowCommand } from '../remote/published.ts';
import { checkerInitCommand } from './init.ts';
import { checkerLintCommand } from './lint.ts';
import { checkerTestCommand } from './test.ts';
import { checkerVerifyCommand } from './verify.ts';

/** The group; each subcommand has a file of its own beside this one. */
export function checkerCommand(context: CommandContext): Command {
  return new Command('checker')
    .summary('write and try checker packages')
    .description('Write checker packages, and try them as they will be run.')
    .addHelpText('after', HELP)
    .addCommand(checkerInitCommand(context))
    .addCommand(checkerLintCommand(context))
    .addCommand(checkerTestCommand(context))
    .addCommand(checkerVerifyCommand(context))
    .addCommand(checkerPublishCommand(context))
    .addCommand(checkerListCommand(context))
    .addCommand(checkerShowCommand(context));
}

const HELP = `
Examples:
  $ kervyxa checker init ./my-checker
  $ kervyxa checker lint ./my-checker --fix
  $ kervyxa checker test ./my-checker
  $ kervyxa checker verify ./my-checker --artifact report=answer.json

docs/checkers.md tells how to write one.`;

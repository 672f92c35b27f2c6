import { Command } from 'commander';
import type { CommandContext } from '../../context.ts';
import { evidenceReplayCommand } from './replay.ts';
import { evidenceVerifyCommand } from './verify.ts';

/** The group; each subcommand has a file of its own beside this one. */
export function evidenceCommand(context: CommandContext): Command {
  return new Command('evidence')
    .summary('check what a run left, or run it again')
    .description('Check the evidence that a run left, or run its commit again from it alone.')
    .addHelpText('after', HELP)
    .addCommand(evidenceVerifyCommand(context))
    .addCommand(evidenceReplayCommand(context));
}

const HELP = `
Examples:
  $ kervyxa evidence verify evidence.tar --key keys.json
  $ kervyxa evidence replay evidence.tar --key keys.json

docs/evidence.md tells what a run leaves, and what it proves.`;

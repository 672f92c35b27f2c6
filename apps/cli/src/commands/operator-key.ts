import { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { toSettingsHelp } from '../daemon-options.ts';
import { toJsonText } from '../present/json.ts';
import { toKeyBox } from '../present/key-box.ts';

interface OperatorKeyOptions {
  readonly json?: boolean;
}

export function operatorKeyCommand(context: CommandContext): Command {
  return new Command('operator-key')
    .summary('make one more key for the operator')
    .description('Make one more key for the operator, for whoever can reach the database.')
    .option('--json', 'print the key as JSON')
    .addHelpText('after', HELP)
    .action(async ({ json }: OperatorKeyOptions) => {
      const { addOperatorKey } = await import('../io/operator-key.ts');
      const { stdout } = context.host;
      const key = await addOperatorKey(context);
      stdout.write(json === true ? toJsonText({ operatorKey: key }) : toKeyBox(key, stdout));
    });
}

const HELP = `
Only its hash is stored, so it can not be shown again. Keys made before stay
valid. Without DATABASE_URL it is for the built-in database of "kervyxa up",
which may be running meanwhile.

${toSettingsHelp(['DATABASE_URL', 'KERVYXA_HOME'])}

Examples:
  $ kervyxa operator-key
  $ kervyxa operator-key --json | jq -r .operatorKey`;

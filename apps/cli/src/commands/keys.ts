import { Command } from 'commander';
import { toPublicKeysDocument } from '@kervyxa/evidence';
import type { CommandContext } from '../context.ts';
import type { Screen } from '../host.ts';
import type { SigningKeys } from '../io/signing-key.ts';
import { toJsonText } from '../present/json.ts';

interface KeysOptions {
  readonly json?: boolean;
}

export function keysCommand(context: CommandContext): Command {
  const { host } = context;
  const show = new Command('show')
    .summary('show the public keys of this command line')
    .description('Show the public keys of what "kervyxa verify --evidence" signs.')
    .option('--json', 'print what others need to check signatures')
    .addHelpText('after', '\nExamples:\n  $ kervyxa keys show --json > keys.json')
    .action(async (options: KeysOptions) => {
      const { openSigningKeys, ownKeysFolder } = await import('../io/signing-key.ts');
      showKeys(openSigningKeys(ownKeysFolder(), host.clock), options, host.stdout);
    });
  const rotate = new Command('rotate')
    .summary('put a new key in the place of the one in use')
    .description('Retire the key in use and make the next. What it has signed stays good.')
    .option('--json', 'print what others need to check signatures')
    .addHelpText('after', '\nExamples:\n  $ kervyxa keys rotate --json > keys.json')
    .action(async (options: KeysOptions) => {
      const { rotateSigningKey, ownKeysFolder } = await import('../io/signing-key.ts');
      showKeys(rotateSigningKey(ownKeysFolder(), host.clock), options, host.stdout);
    });
  return new Command('keys')
    .summary('show or rotate the signing key of this command line')
    .description('Show or rotate the key that signs what "kervyxa verify --evidence" leaves.')
    .addHelpText('after', HELP)
    .addCommand(show)
    .addCommand(rotate);
}

const HELP = `
The key is made when it is first needed, in a folder below KERVYXA_HOME, and its
private part never leaves that. A daemon has keys of its own, which it serves at
/.well-known/kervyxa-keys.json.

Examples:
  $ kervyxa keys show
  $ kervyxa keys rotate`;

function showKeys({ publicKeys }: SigningKeys, { json }: KeysOptions, screen: Screen): void {
  if (json === true) {
    screen.write(toJsonText(toPublicKeysDocument(publicKeys)));
    return;
  }
  for (const { keyid, createdAt, retiredAt } of publicKeys) {
    const until = retiredAt === null ? 'in use' : `until  ${retiredAt.toISOString()}`;
    const from = createdAt?.toISOString() ?? 'unknown';
    screen.write(`${screen.colors.bold(keyid)}\n  since  ${from}\n  ${until}\n`);
  }
}

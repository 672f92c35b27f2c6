import { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { toSettingsHelp } from '../daemon-options.ts';
import { cliError } from '../errors.ts';

export function workerKeyCommand(context: CommandContext): Command {
  const { stdout } = context.host;
  const rotate = new Command('rotate')
    .summary('put a new key in the place of the one in use')
    .description('Make the next key of this machine’s worker, and retire the one in use.')
    .addHelpText('after', '\nExamples:\n  $ kervyxa worker-key rotate')
    .action(async () => {
      const { rotateWorkerKey } = await import('../io/worker-key.ts');
      const { keyid, retired } = await rotateWorkerKey(context);
      stdout.write(`${stdout.colors.bold(keyid)} signs from now on\n`);
      for (const old of retired) stdout.write(`${old} is retired\n`);
    });
  const retire = new Command('retire')
    .summary('retire a key whose machine is gone')
    .description('Retire a key by its id: it is listed for ever, and signs nothing any more.')
    .argument('<keyid>', 'as /.well-known/kervyxa-keys.json and every attestation name it')
    .addHelpText('after', '\nExamples:\n  $ kervyxa worker-key retire KEYID')
    .action(async (keyid: string) => {
      const { retireWorkerKey } = await import('../io/worker-key.ts');
      if (!(await retireWorkerKey(context, keyid))) throw keyNotInUse();
      stdout.write('Retired: it is listed as such, and signs nothing any more.\n');
    });
  return new Command('worker-key')
    .summary('rotate or retire the key with which a worker signs')
    .description('Rotate or retire the key with which a worker signs what runs leave.')
    .addHelpText('after', HELP)
    .addCommand(rotate)
    .addCommand(retire);
}

const HELP = `
A worker makes its key at its first start, in the folder signing-keys below
KERVYXA_HOME; its private part never leaves that. What a key has signed while it
was in use stays good. A worker that runs meanwhile takes the new key by itself.

${toSettingsHelp(['DATABASE_URL', 'KERVYXA_HOME'])}

Examples:
  $ kervyxa worker-key rotate
  $ curl -s http://127.0.0.1:8737/.well-known/kervyxa-keys.json`;

function keyNotInUse(): Error {
  return cliError('CLI_WORKER_KEY_UNKNOWN', {
    message: 'expected the id of a key in use, got another',
    fix: 'Look for it at /.well-known/kervyxa-keys.json; one with a time in "retired" is retired already.',
  });
}

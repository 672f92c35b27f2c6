import { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { addListenOptions, toSettingsHelp, type ListenOptions } from '../daemon-options.ts';

interface ApiOptions extends ListenOptions {
  readonly json?: boolean;
}

export function apiCommand(context: CommandContext): Command {
  const command = new Command('api')
    .summary('run the API and a scheduler, on a database that others share')
    .description(
      'Run the API and a scheduler, on a database that others share. It needs no engine.',
    );
  return addListenOptions(command)
    .option('--json', 'JSON lines instead of text; the default where stdout is no terminal')
    .addHelpText('after', HELP)
    .action(async ({ host, port, json }: ApiOptions) => {
      const { runDaemon } = await import('../io/daemon.ts');
      await runDaemon(context, {
        api: { host, port },
        worker: null,
        mayEmbed: false,
        isJson: json ?? false,
      });
    });
}

const HELP = `
Any number may run, on any number of machines. The first one prints the
operator's key, once. Listening anywhere but on loopback, put a proxy with TLS
in front: keys travel in a header.

${toSettingsHelp([
  'DATABASE_URL',
  'KERVYXA_TRUST_PROXY',
  'KERVYXA_GIT_ALLOW',
  'KERVYXA_PAYOUT_URL',
  'KERVYXA_PAYOUT_SECRET',
  'KERVYXA_WINDOW_MIN_SECONDS',
  'KERVYXA_UPLOAD_MB',
])}

Every process should have the same settings; docs/operations.md tells more.

Examples:
  $ DATABASE_URL=postgresql://me:…@db/kervyxa kervyxa api
  $ kervyxa api --host 0.0.0.0 --port 8080`;

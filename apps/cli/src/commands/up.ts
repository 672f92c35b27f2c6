import { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import {
  addListenOptions,
  addSlotsOption,
  toSettingsHelp,
  type ListenOptions,
} from '../daemon-options.ts';
import { SETTINGS } from '../settings.ts';

interface UpOptions extends ListenOptions {
  readonly slots?: number;
  readonly json?: boolean;
}

export function upCommand(context: CommandContext): Command {
  const command = new Command('up')
    .summary('run API, worker and scheduler in one process')
    .description(
      'Run API, worker and scheduler in one process, with a PostgreSQL, an engine and images that it brings along.',
    );
  return addSlotsOption(addListenOptions(command))
    .option('--json', 'JSON lines instead of text; the default where stdout is no terminal')
    .addHelpText('after', HELP)
    .action(async ({ host, port, slots, json }: UpOptions) => {
      const { runDaemon } = await import('../io/daemon.ts');
      await runDaemon(context, {
        api: { host, port },
        worker: { slots: slots ?? null },
        mayEmbed: true,
        isJson: json ?? false,
      });
    });
}

const HELP = `
Nothing needs to be configured. The first start prints the operator's key, once;
"kervyxa operator-key" makes another one. Ctrl-C drains: no new work, and what
runs is finished. A second Ctrl-C leaves at once, and the next start cleans up.

${toSettingsHelp(Object.keys(SETTINGS) as (keyof typeof SETTINGS)[])}

docs/operations.md tells more.

Examples:
  $ kervyxa up
  $ kervyxa up --port 8080 --slots 4
  $ DATABASE_URL=postgresql://me:…@db/kervyxa kervyxa up --json >> kervyxa.log`;

import { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { addSlotsOption, toSettingsHelp } from '../daemon-options.ts';

interface WorkerOptions {
  readonly slots?: number;
  readonly json?: boolean;
}

export function workerCommand(context: CommandContext): Command {
  const command = new Command('worker')
    .summary('run a worker and a scheduler, on a database that others share')
    .description(
      'Run a worker and a scheduler, on a database that others share. Engine and images are set up first.',
    );
  return addSlotsOption(command)
    .option('--json', 'JSON lines instead of text; the default where stdout is no terminal')
    .addHelpText('after', HELP)
    .action(async ({ slots, json }: WorkerOptions) => {
      const { runDaemon } = await import('../io/daemon.ts');
      await runDaemon(context, {
        api: null,
        worker: { slots: slots ?? null },
        mayEmbed: false,
        isJson: json ?? false,
      });
    });
}

const HELP = `
Any number may run, on any number of machines. A worker whose engine or disk
does not work takes nothing and says so. Ctrl-C drains: what runs is finished.
A second one leaves at once; what ran is tried again elsewhere.

${toSettingsHelp([
  'DATABASE_URL',
  'KERVYXA_HOME',
  'DOCKER_HOST',
  'KERVYXA_GIT_ALLOW',
  'KERVYXA_VERIFIER_ID',
  'KERVYXA_PAYOUT_URL',
  'KERVYXA_PAYOUT_SECRET',
  'KERVYXA_WINDOW_MIN_SECONDS',
  'KERVYXA_PROVE_REPLAYS',
  'KERVYXA_PROVE_SECONDS',
])}

Every process should have the same settings; docs/operations.md tells more.

Examples:
  $ DATABASE_URL=postgresql://me:…@db/kervyxa kervyxa worker
  $ kervyxa worker --slots 4`;

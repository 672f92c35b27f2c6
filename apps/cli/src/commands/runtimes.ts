import { Command } from 'commander';
import { toPrintable } from '@kervyxa/core';
import type { Runtimes } from '@kervyxa/setup';
import type { CommandContext } from '../context.ts';
import type { Screen } from '../host.ts';
import { toJsonText } from '../present/json.ts';

interface RuntimesOptions {
  readonly json?: boolean;
}

export function runtimesCommand(context: CommandContext): Command {
  return new Command('runtimes')
    .summary('list the runtime images that contracts may name')
    .description('List the runtime names that contracts may use, and the images they mean here.')
    .option('--json', 'print the list as JSON')
    .addHelpText('after', HELP)
    .action(async (options: RuntimesOptions) => {
      const { loadRuntimes } = await import('@kervyxa/setup');
      showRuntimes(loadRuntimes(), options, context.host.stdout);
    });
}

const HELP = `
A contract names a runtime in environment.image; approval replaces the name with
the exact image. "kervyxa verify" makes the images that are missing, and
"kervyxa doctor" tells whether the engine has them.

Examples:
  $ kervyxa runtimes
  $ kervyxa runtimes --json | jq -r '.runtimes[].imageId'`;

/** The catalogue in the order of its names. */
export function showRuntimes(runtimes: Runtimes, options: RuntimesOptions, screen: Screen): void {
  const rows = [...runtimes]
    .map(([name, { imageId, source, at }]) => ({ name, imageId, source, boundAt: at }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  if (options.json === true) {
    screen.write(toJsonText({ runtimes: rows }));
    return;
  }
  if (rows.length === 0) {
    screen.write('No runtime is bound to an image yet: the first "kervyxa verify" does that.\n');
    return;
  }
  const blocks = rows.map(({ name, imageId, source, boundAt }) =>
    [
      screen.colors.bold(toPrintable(name)),
      `  image  ${imageId}`,
      `  ${source.padEnd(6)} ${toPrintable(boundAt)}`,
    ].join('\n'),
  );
  screen.write(`${blocks.join('\n\n')}\n`);
}

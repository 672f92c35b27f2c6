import { Command, InvalidArgumentError, Option } from 'commander';
import { SETTINGS } from './settings.ts';

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
}

/** `--host` and `--port`; loopback unless the operator says otherwise. */
export function addListenOptions(command: Command): Command {
  return command
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .addOption(
      new Option('--port <number>', 'port to listen on; 0 for any')
        .default(8737)
        .argParser((text) => parseWhole(text, 0, 65_535)),
    );
}

export function addSlotsOption(command: Command): Command {
  return command.addOption(
    new Option(
      '--slots <number>',
      'submissions verified at once (default: half the CPUs)',
    ).argParser((text) => parseWhole(text, 1, 64)),
  );
}

/** The settings that matter to a command, for its help. */
export function toSettingsHelp(names: readonly (keyof typeof SETTINGS)[]): string {
  const columns = Math.max(...names.map((name) => name.length));
  const lines = names.map((name) => `  ${name.padEnd(columns)}  ${SETTINGS[name]}`);
  return ['Environment:', ...lines].join('\n');
}

function parseWhole(text: string, min: number, max: number): number {
  const value = /^[0-9]{1,6}$/.test(text) ? Number(text) : NaN;
  if (value >= min && value <= max) return value;
  throw new InvalidArgumentError(`expected a whole number from ${min} to ${max}`);
}

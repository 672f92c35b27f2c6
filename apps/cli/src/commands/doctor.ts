import { Command } from 'commander';
import { toPrintable } from '@kervyxa/core';
import type { Check } from '@kervyxa/setup';
import type { CommandContext } from '../context.ts';
import type { Screen } from '../host.ts';
import { count, cut, pad, paragraph, widthOf } from '../present/text.ts';
import { toJsonText } from '../present/json.ts';

interface DoctorOptions {
  readonly json?: boolean;
}

/** On a terminal too narrow for both, a broken line says more than dots. */
const FOUND_COLUMNS_MIN = 24;
const EXIT_UNWELL = 1;

export function doctorCommand(context: CommandContext): Command {
  return new Command('doctor')
    .summary('look whether this machine can verify')
    .description('Look whether this machine can verify, and say how to mend what is wrong.')
    .option('--json', 'print the checks as JSON')
    .addHelpText('after', HELP)
    .action(async (options: DoctorOptions) => {
      const { examineMachine } = await import('../io/examine-machine.ts');
      const { host, interrupts } = context;
      const checks = await examineMachine(host, interrupts.signal);
      context.exitCode = showChecks(checks, options, host.stdout);
    });
}

const HELP = `
It installs nothing: what is missing is made by "npm run setup", or by the first
"kervyxa verify".

Examples:
  $ kervyxa doctor
  $ kervyxa doctor --json | jq '.checks[] | select(.status != "ok")'

Exit codes:
  0 verifications can run, perhaps with warnings   1 they can not`;

const MARK_COLUMNS = 4;
const MARKS = {
  ok: { word: 'ok', paint: 'green' },
  warn: { word: 'warn', paint: 'yellow' },
  fail: { word: 'FAIL', paint: 'red' },
} as const;

/** Shows every check, with the fix below what is wrong, and answers the exit code. */
export function showChecks(
  checks: readonly Check[],
  options: DoctorOptions,
  screen: Screen,
): number {
  const failed = checks.filter(({ status }) => status === 'fail');
  const exitCode = failed.length === 0 ? 0 : EXIT_UNWELL;
  if (options.json === true) {
    screen.write(toJsonText({ ok: failed.length === 0, checks }));
    return exitCode;
  }
  const idColumns = Math.max(...checks.map(({ id }) => widthOf(id)));
  for (const check of checks) screen.write(`${toCheckText(check, idColumns, screen)}\n`);
  const warned = checks.filter(({ status }) => status === 'warn').length;
  const notes = warned === 0 ? '' : `, ${count(warned, 'warning')}`;
  const summary =
    failed.length === 0
      ? `This machine can verify${notes}.`
      : `This machine can not verify: ${count(failed.length, 'problem')}${notes}.`;
  screen.write(`\n${screen.colors.bold(summary)}\n`);
  return exitCode;
}

function toCheckText(check: Check, idColumns: number, { colors, columns }: Screen): string {
  const { id, status, found, expected, fix } = check;
  const { word, paint } = MARKS[status];
  const start = `${colors[paint](pad(word, MARK_COLUMNS))}  ${pad(toPrintable(id), idColumns)}  `;
  const indent = ' '.repeat(MARK_COLUMNS + 2 + idColumns + 2);
  if (status === 'ok') {
    return start + cut(toPrintable(found), Math.max(columns - indent.length, FOUND_COLUMNS_MIN));
  }
  const facts = expected === '' ? found : `${found} (expected ${expected})`;
  return [
    start + paragraph(facts, columns, indent).trimStart(),
    paragraph(`fix: ${fix}`, columns, indent),
  ].join('\n');
}

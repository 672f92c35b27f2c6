import { parseArgs } from 'node:util';
import { toPrintable } from '@kervyxa/core';
import { findTests, idsOfTitle, readThreats, type Threat } from './catalogue.ts';
import { runTitles, type TestEnd } from './run-titles.ts';

const HELP = `npm run threats [-- ID…] [--json]

Carries out the attacks of docs/threats.md, all or those named, and prints each
id with its result. What it is at goes to stderr; all take a quarter of an hour.

Ends with 0 where none succeeds, with 1 where one does, has no test or did not
run, and with 2 for what it can't read.
`;
/** Where attacks begin, behind ids and results. */
const ATTACK_COLUMN = 22;

/** Each word is what the table says. `in part` is where one test of several could not run here. */
type Result = 'pass' | 'pass in part' | 'not run here' | 'FAIL' | 'NO TEST';

interface Row {
  readonly id: string;
  readonly result: Result;
  /** Why it did not pass, or null. */
  readonly why: string | null;
  readonly tests: readonly TestEnd[];
}

async function main(): Promise<void> {
  const threats = readThreats();
  const { values, positionals, tokens } = parseArgs({
    // Strict, it throws for an unknown option: a stack for a slip of the keyboard.
    strict: false,
    allowPositionals: true,
    tokens: true,
    options: { json: { type: 'boolean' }, help: { type: 'boolean' } },
  });
  const unknown = [
    ...tokens.flatMap((token) =>
      token.kind === 'option' && !isOption(token) ? token.rawName : [],
    ),
    ...positionals.filter((id) => !threats.some((threat) => threat.id === id)),
  ];
  if (values.help === true || unknown.length > 0) {
    const problem = unknown.length > 0 ? `no such id or option: ${unknown.join(' ')}\n\n` : '';
    (problem === '' ? process.stdout : process.stderr).write(`${problem}${HELP}`);
    process.exitCode = problem === '' ? 0 : 2;
    return;
  }
  const asked = threats.filter(({ id }) => positionals.length === 0 || positionals.includes(id));
  const tests = findTests();
  const files = new Set(asked.flatMap(({ id }) => [...(tests.get(id) ?? [])]));
  const ids = asked.map(({ id }) => id);
  say(`${ids.length} attacks in ${files.size} files of tests`);
  const { ends, trouble, isStopped } = await runTitles(ids, [...files], say);
  if (isStopped) {
    process.exitCode = 130;
    return;
  }
  const rows = asked.map(({ id }) => toRow(id, tests.has(id), ends));
  process.stdout.write(values.json === true ? toJson(rows, trouble) : toTable(rows, asked));
  for (const each of trouble) say(`trouble beside the tests: ${each}`);
  const isBad = rows.some(({ result }) => result === 'FAIL' || result === 'NO TEST');
  process.exitCode = isBad || trouble.length > 0 ? 1 : 0;
}

function isOption({ name, value }: { readonly name: string; readonly value?: unknown }): boolean {
  return (name === 'json' || name === 'help') && value === undefined;
}

function toRow(id: string, isKnown: boolean, ends: readonly TestEnd[]): Row {
  const own = ends.filter(({ title }) => idsOfTitle(title).includes(id));
  const failed = own.find(({ state }) => state === 'failed');
  const skipped = own.find(({ state }) => state === 'skipped');
  const row = { id, tests: own };
  if (failed !== undefined) return { ...row, result: 'FAIL', why: failed.why };
  if (!isKnown) return { ...row, result: 'NO TEST', why: null };
  if (own.length === 0) return { ...row, result: 'FAIL', why: 'its test did not run' };
  if (skipped === undefined) return { ...row, result: 'pass', why: null };
  const isPart = own.some(({ state }) => state === 'passed');
  return { ...row, result: isPart ? 'pass in part' : 'not run here', why: skipped.why };
}

function toTable(rows: readonly Row[], threats: readonly Threat[]): string {
  const lines = rows.map(({ id, result, why }, index) => {
    const attack = toWidth(threats[index]?.attack ?? '');
    const reason = why === null ? '' : `\n${' '.repeat(ATTACK_COLUMN)}${toPrintable(why, 300)}`;
    return `${id.padEnd(8)}${result.padEnd(14)}${attack}${reason}\n`;
  });
  const counts = new Map<string, number>();
  for (const { result } of rows) counts.set(result, (counts.get(result) ?? 0) + 1);
  const sum = [...counts].map(([result, count]) => `${count} ${result}`).join(', ');
  return `${lines.join('')}\n${rows.length} attacks: ${sum}\n`;
}

/** As much as the terminal has room for; a pipe or file gets all. */
function toWidth(attack: string): string {
  const room = (process.stdout.columns ?? Infinity) - ATTACK_COLUMN;
  return attack.length <= room ? attack : `${attack.slice(0, Math.max(room - 1, 0))}…`;
}

function toJson(threats: readonly Row[], trouble: readonly string[]): string {
  return `${JSON.stringify({ threats, trouble }, null, 2)}\n`;
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

await main();

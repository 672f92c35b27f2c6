import type { WriteStream } from 'node:tty';
import { styleText } from 'node:util';
import { toPrintable } from '@kervyxa/core';
import type { LifeOutcome, Narrator } from './story.ts';

const WHO_COLUMNS = 10;
const WHAT_COLUMNS = 36;
const MONEY_COLUMNS = 12;

type Style = Parameters<typeof styleText>[0];

/** What a state says at a glance; the others are on the way somewhere. */
const STYLES: Readonly<Record<string, Style>> = {
  PASS: 'green',
  PASSED: 'green',
  PAID: 'green',
  SETTLED: 'green',
  OPEN: 'green',
  UPHELD: 'green',
  VERIFIED: 'green',
  'same PASS': 'green',
  WHOLE: 'green',
  REFUSED: 'red',
  FAILED: 'red',
  OVERTURNED: 'red',
  DEFERRED: 'yellow',
};

/** Accounts that are nobody's, as a reader calls them. */
const ACCOUNTS: Readonly<Record<string, string>> = {
  outside: 'the outside world',
  escrow: 'in escrow',
  bond: 'in bonds',
  treasury: 'the treasury: fee and half a bond',
};

export interface LifePage extends Narrator {
  title(): void;
  note(line: string): void;
  end(outcome: LifeOutcome, differences: readonly string[]): void;
  /** It did not come to an end; `lines` are the last that kervyxa said. */
  broken(error: unknown, lines: readonly string[]): void;
}

/** Plain lines, one an event. */
export function createLifePage(stream: WriteStream): LifePage {
  const paint = (style: Style, text: string): string => styleText(style, text, { stream });
  const print = (text = ''): void => {
    stream.write(`${text}\n`);
  };
  let chapters = 0;
  return {
    title: () => {
      print(`\n${paint('bold', 'kervyxa')}  money for a git commit, decided by a machine`);
      print(
        paint('dim', 'A real kervyxa on its own PostgreSQL, real git over HTTP, real containers.'),
      );
    },
    note: (line) => print(paint('dim', `   ${toPrintable(line)}`)),
    chapter: (title) => {
      chapters += 1;
      print(`\n${paint('bold', `${chapters}  ${title}`)}\n`);
    },
    act: (who, what) => print(`   ${who.padEnd(WHO_COLUMNS)}${toPrintable(what)}`),
    state: (what, state, reason) => {
      const end = reason === '' ? '' : `  ${paint('dim', toPrintable(reason))}`;
      const name = toPrintable(what).padEnd(WHAT_COLUMNS);
      print(`   ${' '.repeat(WHO_COLUMNS)}${name}${paint(STYLES[state] ?? 'dim', state)}${end}`);
    },
    end: (outcome, differences) => {
      printMoney(outcome, print, paint);
      printEnd(differences, print, paint);
    },
    broken: (error, lines) => {
      print(`\n${paint(['bold', 'red'], 'The story broke off:')} ${toPrintable(String(error))}`);
      for (const line of lines) print(paint('dim', `   ${toPrintable(line)}`));
    },
  };
}

function printMoney(
  { balances, sums, transferCount, chainProblem }: LifeOutcome,
  print: (text?: string) => void,
  paint: (style: Style, text: string) => string,
): void {
  print(`\n${paint('bold', `The ledger, after ${transferCount} transfers`)}\n`);
  const row = (name: string, amount: bigint): string =>
    `   ${name.padEnd(WHAT_COLUMNS)}${toMoney(amount).padStart(MONEY_COLUMNS)}`;
  for (const [account, amount] of Object.entries(balances)) {
    print(row(ACCOUNTS[account] ?? account, amount));
  }
  print(`   ${'─'.repeat(WHAT_COLUMNS + MONEY_COLUMNS)}`);
  for (const [currency, sum] of Object.entries(sums)) {
    print(paint('bold', row(`sum, ${currency}`, sum)));
  }
  const chain = chainProblem === null ? 'holds from the first link to the last' : chainProblem;
  print(paint('dim', `   the chain of hashes ${chain}`));
}

function printEnd(
  differences: readonly string[],
  print: (text?: string) => void,
  paint: (style: Style, text: string) => string,
): void {
  print();
  if (differences.length > 0) {
    print(paint(['bold', 'red'], 'Not everything came out as foretold:'));
    for (const difference of differences) print(`   ${difference}`);
    return;
  }
  print(paint('bold', 'Everything came out as foretold. What next'));
  const commands = [
    ['npm start', 'kervyxa for yourself, with a page to try every call'],
    ['npm run demo -- fixtures', 'what honest and cheating commits are judged to be'],
    ['npx kervyxa verify --help', 'judge your own commit'],
    ['less docs/contracts.md', 'write a contract'],
    ['less docs/api.md', 'live such a life with curl'],
    ['less docs/operations.md', 'run it for others'],
  ];
  for (const [command = '', what = ''] of commands) {
    print(`   ${paint('cyan', command.padEnd(28))}${paint('dim', what)}`);
  }
  print();
}

/** `-60000` is `-600.00`. */
function toMoney(minor: bigint): string {
  const digits = String(minor < 0n ? -minor : minor).padStart(3, '0');
  return `${minor < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

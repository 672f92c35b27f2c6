import type { SyntaxNode } from 'unbash';

import { unwrapWords, wordsOf, type LiteralWord } from './shell-words.ts';

export type Outcome = 'ok' | 'fail';

/** `next`: how the command can end with the shell going on. `exit`: how it can end the shell. */
export interface Paths {
  readonly next: ReadonlySet<Outcome>;
  readonly exit: ReadonlySet<Outcome>;
}

export const BOTH: Paths = { next: new Set(['ok', 'fail']), exit: new Set() };
export const OK: Paths = { next: new Set(['ok']), exit: new Set() };
export const FAIL: Paths = { next: new Set(['fail']), exit: new Set() };
/** What `exit` and `return` end with. */
export function exitOutcomes(
  status: string | null | undefined,
  wordCount: number,
  previous: ReadonlySet<Outcome>,
): ReadonlySet<Outcome> {
  if (wordCount === 1) return previous;
  if (typeof status !== 'string' || !/^\d+$/.test(status)) return BOTH.next;
  return Number(status) % 256 === 0 ? OK.next : FAIL.next;
}

/** The paths of a command whose status is known; null: it can do both. */
export function pathsOf(status: Outcome | null): Paths {
  if (status === null) return BOTH;
  return status === 'ok' ? OK : FAIL;
}

export function negate(outcomes: ReadonlySet<Outcome>): ReadonlySet<Outcome> {
  return new Set([...outcomes].map((outcome): Outcome => (outcome === 'ok' ? 'fail' : 'ok')));
}

/** The paths of something that may not run at all. */
export function orElseOk({ next, exit }: Paths): Paths {
  return { next: next.union(OK.next), exit };
}

// Programs that pass on what they read and succeed whatever it is.
const FILTERS = new Set(
  'cat tee head tail sort uniq wc tr cut nl rev fold fmt column less more ts pr tac od xxd base64 sed awk gawk mawk dd pv strings logger'.split(
    ' ',
  ),
);

/** Whether a later element of a pipe passes on what it reads, so that its status says nothing. */
export function isFilter(command: SyntaxNode): boolean {
  if (command.type === 'Redirected') return isFilter(command.command);
  return command.type === 'Command' && isFilterCall(unwrapWords(wordsOf(command)));
}

function isFilterCall([program, ...args]: readonly LiteralWord[]): boolean {
  if (typeof program !== 'string' || !FILTERS.has(program)) return false;
  const judges = JUDGING_FILTERS[program.replace(/^[gm](?=awk)/, '')];
  return judges === undefined || !args.some((word) => word === null || judges.test(word));
}

/** Filters that can be told to end with a status that says something of what they read. */
const JUDGING_FILTERS: Readonly<Record<string, RegExp>> = {
  sed: /\bq\s*\d|\bQ\s*\d/,
  awk: /\bexit\b/,
  sort: /^(-[a-zA-Z]*[cC]|--check)/,
  base64: /^(-[dD]|--decode)$/,
  xxd: /^-r/,
};

/** Whether a filter only shows files that the command line itself has written before. */
export function showsOnly(words: readonly LiteralWord[], written: ReadonlySet<string>): boolean {
  if (!isFilterCall(words)) return false;
  const operands = words.slice(1).filter((word) => word === null || !/^(-|\d+$)/.test(word));
  return operands.length > 0 && operands.every((word) => word !== null && written.has(word));
}

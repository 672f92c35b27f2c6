import type { SyntaxNode } from 'unbash';

import { unwrapWords, wordsOf } from './shell-words.ts';

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
  'cat tee head tail sort uniq wc tr cut nl rev fold fmt column less more ts pr tac od xxd base64 sed'.split(
    ' ',
  ),
);

/** Whether a later element of a pipe passes on what it reads, so that its status says nothing. */
export function isFilter(command: SyntaxNode): boolean {
  if (command.type === 'Redirected') return isFilter(command.command);
  if (command.type !== 'Command') return false;
  const [program, ...args] = unwrapWords(wordsOf(command));
  if (typeof program !== 'string' || !FILTERS.has(program)) return false;
  // sed can be told to quit with a status.
  return program !== 'sed' || !args.some((word) => word === null || /\bq\s*\d|\bQ\s*\d/.test(word));
}

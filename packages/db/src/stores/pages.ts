import { createDbError } from '../errors.ts';
import type { Page, PageRequest } from '../ports.ts';

export const LIMIT_MAX = 200;
const SEQ_MAX = 9_223_372_036_854_775_807n;

/** What a page needs of the database: one more row than is shown tells whether there is another page. */
export interface Slice {
  readonly take: number;
  /** The place after which it begins; null for the first page. */
  readonly after: bigint | null;
}

/** Throws DB_CURSOR_INVALID. */
export function toSlice({ limit, after }: PageRequest): Slice {
  const take = Math.min(Math.max(limit, 1), LIMIT_MAX) + 1;
  return { take, after: after === null ? null : parseCursor(after) };
}

/** Rows come in the order of the list, `take` at most. */
export function toPage<Row extends { readonly seq: bigint }, T>(
  rows: readonly Row[],
  { take }: Slice,
  toItem: (row: Row) => T,
): Page<T> {
  const shown = rows.slice(0, take - 1);
  const last = rows.length === take ? shown.at(-1) : undefined;
  return { items: shown.map(toItem), next: last === undefined ? null : String(last.seq) };
}

function parseCursor(text: string): bigint {
  const seq = /^[0-9]{1,19}$/.test(text) ? BigInt(text) : null;
  if (seq !== null && seq <= SEQ_MAX) return seq;
  throw createCursorInvalid(text);
}

export function createCursorInvalid(text: string): Error {
  return createDbError('DB_CURSOR_INVALID', {
    message: `expected the "next" of a page of this list, got ${JSON.stringify(text.slice(0, 40))}`,
    fix: 'Send "next" as it was answered, or leave it out for the first page.',
  });
}

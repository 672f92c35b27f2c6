import { toPrintable } from '@kervyxa/core';
import truncatedWidth from 'fast-string-truncated-width';
import { wrapAnsi } from 'fast-wrap-ansi';

const ELLIPSIS = '...';
const WRAP_COLUMNS_MIN = 24;

/** Columns that plain text takes on a terminal. */
export function widthOf(text: string): number {
  return truncatedWidth(text).width;
}

/** Cuts plain text to a width in columns; dots stand for what is cut off. */
export function cut(text: string, columns: number): string {
  const limit = Math.max(columns, ELLIPSIS.length);
  const fit = truncatedWidth(text, { limit, ellipsis: ELLIPSIS, ellipsisWidth: ELLIPSIS.length });
  return fit.truncated ? `${text.slice(0, fit.index)}${ELLIPSIS}` : text;
}

/** Fills plain text with blanks up to a width in columns. */
export function pad(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - widthOf(text)));
}

/** Breaks printable text, colours included, at blanks, and words that are wider than a line anywhere. */
export function wrap(text: string, columns: number): string {
  return wrapAnsi(text, Math.max(columns, WRAP_COLUMNS_MIN), { hard: true });
}

/** JSON that ends a paragraph, after a colon. */
const JSON_AT_END = /(?<=: )\{".*\}$/;

/**
 * A paragraph from outside: made printable, wrapped, and every line indented. JSON at its end has a line of its own,
 * however long: it is there to be pasted, and a break in one of its strings would spoil it.
 */
export function paragraph(text: string, columns: number, indent: string): string {
  const printable = toPrintable(text);
  const json = JSON_AT_END.exec(printable)?.[0] ?? '';
  const words = printable.slice(0, printable.length - json.length).trimEnd();
  const lines = wrap(words, columns - indent.length);
  return (json === '' ? lines : `${lines}\n${json}`).replace(/^/gm, indent);
}

/** `   0.3 s`: eight columns, so that a column of them lines up. */
export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`.padStart(8);
}

/** `1 file`, `2 files`; the plural is given where it is not the noun and an s. */
export function count(amount: number, noun: string, plural = `${noun}s`): string {
  return `${amount} ${amount === 1 ? noun : plural}`;
}

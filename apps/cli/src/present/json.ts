// DEL, C1 controls, line separators, and what is not seen: JSON itself escapes only C0, and a terminal obeys U+009B as
// it does ESC [ (THREATS M22). In a JSON text all of these stand inside strings, where an escape means the same.
const UNSAFE = /[\u007f-\u009f\u2028\u2029\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

/** A document for programs that may end up on a terminal: what could forge or hide text there is escaped. */
export function toJsonText(value: unknown): string {
  return `${JSON.stringify(value, null, 2).replace(UNSAFE, escape)}\n`;
}

function escape(unsafe: string): string {
  return Array.from(
    { length: unsafe.length },
    (_, at) => `\\u${unsafe.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');
}

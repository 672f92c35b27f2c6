// Controls of both sets, line and paragraph separators, bidirectional controls, what nobody sees (but what chooses the
// look of an emoji) and lone surrogates: what can move a cursor, forge a line or hide a name when it is shown (THREATS
// M22, S29).
const UNSAFE =
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|(?![\ufe0e\ufe0f])\p{Default_Ignorable_Code_Point}|\p{Surrogate}/gu;

/** Text from outside, made safe for one line of a terminal or a log: each unsafe character becomes `\u{hex}`. */
export function toPrintable(text: string, charactersMax = 2_000): string {
  const safe = text.replace(
    UNSAFE,
    (unsafe) => `\\u{${unsafe.codePointAt(0)?.toString(16) ?? ''}}`,
  );
  // Half a character is what no database and no canonical JSON takes.
  return safe.length <= charactersMax ? safe : `${safe.slice(0, charactersMax).toWellFormed()}…`;
}

// JSON itself escapes only C0, and a terminal obeys U+009B as it does ESC [.
const UNSAFE_IN_JSON = /[\u007f-\u009f\p{Zl}\p{Zp}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

/**
 * JSON text that may end up on a terminal: what could forge or hide text there is escaped. All of that stands inside
 * strings, where an escape means the same.
 */
export function escapeJson(json: string): string {
  return json.replace(UNSAFE_IN_JSON, (unsafe) =>
    Array.from(
      { length: unsafe.length },
      (_, at) => `\\u${unsafe.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}

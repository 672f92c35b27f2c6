// C0 and C1 controls, line and paragraph separators, bidirectional controls, zero-width characters and lone
// surrogates: what can move a cursor, forge a line or hide a name when it is shown (THREATS M22, S29).
const UNSAFE =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/gu;

/** Text from outside, made safe for one line of a terminal or a log: each unsafe character becomes `\u{hex}`. */
export function toPrintable(text: string, charactersMax = 2_000): string {
  const safe = text.replace(
    UNSAFE,
    (unsafe) => `\\u{${unsafe.codePointAt(0)?.toString(16) ?? ''}}`,
  );
  // Half a character is what no database and no canonical JSON takes.
  return safe.length <= charactersMax ? safe : `${safe.slice(0, charactersMax).toWellFormed()}…`;
}

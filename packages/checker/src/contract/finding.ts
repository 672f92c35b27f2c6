import { LINT_TABLE, type LintCode } from './lint-table.ts';

/** One thing that lint has to say about a folder. `code` is stable for ever. */
export interface LintFinding {
  /** Path in the folder. */
  readonly file: string;
  /** JSON Pointer (RFC 6901) into the file; empty for all of it, and in files that are no JSON. */
  readonly pointer: string;
  readonly code: LintCode;
  /** Nothing overrides `refuse`; `advise` keeps nobody from going on. */
  readonly severity: 'refuse' | 'advise';
  readonly message: string;
  readonly fix: string;
}

export function lintFindingOf(
  code: LintCode,
  place: { file: string; pointer?: string },
  words: { message: string; fix: string },
): LintFinding {
  const { file, pointer = '' } = place;
  const { severity } = LINT_TABLE[code];
  return { file, pointer, code, severity, message: words.message, fix: words.fix };
}

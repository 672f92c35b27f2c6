import type { InputFile } from '../package/checker-package.ts';

/** What somebody submits to a checker. */
export interface CheckSubmission {
  readonly artifacts: readonly (InputFile & { readonly role: string })[];
  /** The answer in words, for contracts that take one. */
  readonly summaryText: string | null;
}

/** Why a program's run says nothing of what was submitted: its author's fault, or its runtime's. */
export const BROKEN_CODES = [
  'EXIT_STATUS',
  'RESULT_MISSING',
  'RESULT_MALFORMED',
  'RESULT_UNKNOWN',
  'ERROR_CLAIMED',
  'SCORE_MISSING',
  'SCORE_UNEXPECTED',
  'EVIDENCE_MISSING',
  'EVIDENCE_MALFORMED',
  'EVIDENCE_REFUSED',
  'WRITTEN_AFTERWARDS',
  'TIME_LIMIT',
  'MEMORY_LIMIT',
  'OUTPUT_LIMIT',
  'DISK_LIMIT',
] as const;
export type BrokenCode = (typeof BROKEN_CODES)[number];

/** How one invocation of a sandbox stage ended; our own trouble is thrown. */
export type StageEnd =
  | {
      readonly kind: 'verified' | 'refuted' | 'inconclusive';
      /** The program's own sentence, printable; null where it gave none. */
      readonly reason: string | null;
      /** Of a score stage that verified, and only then. */
      readonly score: number | null;
      /** What it wrote to /output/evidence/summary.json. */
      readonly evidence: unknown;
    }
  /** What was submitted can't be put before the program: inconclusive, never refuted. Nothing was run. */
  | { readonly kind: 'unmet'; readonly message: string }
  /** None of these is an answer. */
  | { readonly kind: 'broken'; readonly code: BrokenCode; readonly message: string };

export function broken(
  code: BrokenCode,
  message: string,
): Extract<StageEnd, { readonly kind: 'broken' }> {
  return { kind: 'broken', code, message };
}

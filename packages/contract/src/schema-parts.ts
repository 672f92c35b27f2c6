import { z } from 'zod';

import { LIMIT_RANGES, type LimitName } from './limits.ts';

/**
 * Free text of `min` (1) to `max` UTF-16 units. A lone surrogate has no UTF-8 form, so it can't be hashed; NUL would
 * end a command early.
 */
export function textOf(max: number, { min = 1 }: { min?: number } = {}) {
  return z
    .string()
    .min(min)
    .max(max)
    .refine((text) => text.isWellFormed(), 'expected well-formed Unicode, got a lone surrogate')
    .refine((text) => !text.includes('\0'), 'expected text without NUL');
}

export const COMMAND_LENGTH_MAX = 8_192;
/** Of all commands of a contract together: lint takes milliseconds for each 1,000, and holds up who waits for it. */
export const COMMANDS_LENGTH_MAX = 65_536;
const COMMAND_OPENINGS_MAX = 200;

/** Whether a command is small enough to be analysed: the cost of parsing a shell grows with what nests in it. */
export function isReviewable(command: string): boolean {
  if (command.length > COMMAND_LENGTH_MAX) return false;
  return (command.match(/[({`]/g)?.length ?? 0) <= COMMAND_OPENINGS_MAX;
}

/** A command for `/bin/sh -c` that a person can review. */
export function commandOf() {
  return textOf(COMMAND_LENGTH_MAX)
    .refine((text) => text.trim() !== '', 'expected a command, got only blanks')
    .refine(
      isReviewable,
      `expected a command with at most ${COMMAND_OPENINGS_MAX} brackets and backquotes; put more into a script`,
    );
}

/** A limit within its documented range; a whole number unless `fractions`. */
export function limitOf(name: LimitName, { fractions = false }: { fractions?: boolean } = {}) {
  const { min, max } = LIMIT_RANGES[name];
  return (fractions ? z.number() : z.int()).min(min).max(max);
}

/** A file of the workspace: relative, slashes, no `.` or `..`, at most 1,024 units. */
export function workspacePathOf() {
  return textOf(1_024).refine(
    (path) =>
      !/[\u0000-\u001f\u007f\\]/.test(path) &&
      path.split('/').every((segment) => segment !== '' && segment !== '.' && segment !== '..'),
    'expected a relative path without empty, . or .. segments, backslashes or control characters',
  );
}

/** Reports a problem that has a finding code of its own; lint reads the code back with `codeOfIssue`. */
export function issueWith(
  context: z.RefinementCtx,
  code: string,
  message: string,
  path: (string | number)[] = [],
): void {
  context.addIssue({ code: 'custom', message, path, params: { finding: code } });
}

/** The finding code that `issueWith` put into an issue, or null. */
export function codeOfIssue(issue: z.core.$ZodIssue): string | null {
  const code: unknown = issue.code === 'custom' ? issue.params?.['finding'] : null;
  return typeof code === 'string' ? code : null;
}

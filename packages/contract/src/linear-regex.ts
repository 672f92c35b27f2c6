import { toPrintable } from '@kervyxa/core';
import { RE2JS, RE2JSException } from 're2js';

import { contractError } from './errors.ts';

/** A regular expression whose time is linear in text × program, whatever the text (BUGS: no backtracking). */
export interface LinearRegex {
  /** Whether the pattern is found anywhere in the text; `^`, `$` are the text's ends unless the pattern says `(?m)`. */
  test(text: string): boolean;
}

const SOURCE_LENGTH_MAX = 1_024;
const PROGRAM_SIZE_MAX = 4_096;

/**
 * Compiles RE2 syntax: no back-references, no look-around, repeats of at most 1,000; at most 1,024 characters and
 * 4,096 instructions.
 *
 * Throws CONTRACT_REGEX_REFUSED.
 */
export function compileLinearRegex(source: string): LinearRegex {
  if (source.length > SOURCE_LENGTH_MAX) {
    throw refuse(`got one of ${source.length} characters, more than ${SOURCE_LENGTH_MAX}`);
  }
  const compiled = compileOrRefuse(source);
  const size = compiled.programSize();
  if (size > PROGRAM_SIZE_MAX) {
    throw refuse(`got one of ${size} instructions, more than ${PROGRAM_SIZE_MAX}`);
  }
  return { test: (text) => compiled.test(text) };
}

function compileOrRefuse(source: string): RE2JS {
  try {
    return RE2JS.compile(source);
  } catch (cause) {
    if (!(cause instanceof RE2JSException)) throw cause;
    throw refuse(toPrintable(cause.message), cause);
  }
}

function refuse(got: string, cause?: unknown) {
  return contractError('CONTRACT_REGEX_REFUSED', {
    message: `expected an RE2 pattern, ${got}`,
    fix: 'Write it without back-references and look-around, shorter, with smaller repeats.',
    cause,
  });
}

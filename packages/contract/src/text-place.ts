import { toPrintable } from '@kervyxa/core';

import { contractError, type ContractErrorCode } from './errors.ts';

/** A place in a text; both count from 1, columns in UTF-16 units. */
export interface TextPlace {
  readonly line: number;
  readonly column: number;
}

/** A contract file as read: nothing is known yet about what is in it. */
export interface ContractText {
  /** JSON values only, nested at most 64 levels, no key twice. */
  readonly document: unknown;
  /** Where the value of a JSON Pointer stands, or null where there is none. */
  locate(pointer: string): TextPlace | null;
}

/** An error at a place; `expectation` continues "line L, column C: ". */
export function textError(
  code: ContractErrorCode,
  { line, column }: TextPlace,
  { expectation, fix }: { expectation: string; fix: string },
) {
  return contractError(code, {
    message: `line ${line}, column ${column}: ${expectation}`,
    fix,
    details: { line, column },
  });
}

/** Levels of objects and arrays; no contract needs 10, and every recursive reader survives this many. */
export const DEPTH_MAX = 64;

export function depthError(place: TextPlace) {
  return textError('CONTRACT_TEXT_TOO_DEEP', place, {
    expectation: `expected at most ${DEPTH_MAX} levels of nesting, got more`,
    fix: 'Flatten the document: a contract has six levels.',
  });
}

/** `key` comes from outside. */
export function duplicateKeyError(key: string, place: TextPlace) {
  return textError('CONTRACT_KEY_DUPLICATED', place, {
    expectation: `expected every key once, got "${toPrintable(key, 100)}" again`,
    fix: 'Remove one of the two: readers disagree about which one counts.',
  });
}

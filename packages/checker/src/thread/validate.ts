import { compileLinearRegex } from '@kervyxa/contract';
import { toPrintable } from '@kervyxa/core';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { compileAuthorSchema } from '../builtins/author-schema.mjs';
import type { SchemaCheck } from './schema-check.ts';

const TEXT_CHARACTERS_MAX = 300;
const ENDLESS =
  'expected a schema that comes to an end, got one that is too deep or refers to itself';

/** Runs in the thread: what it is given is hostile, and may never end or take all memory. */
export function validate(schemaText: string, valueText: string): SchemaCheck {
  try {
    const libraries = { Ajv2020, compileRegex: compileLinearRegex };
    const check = compileAuthorSchema(JSON.parse(schemaText), libraries);
    const problems = check(JSON.parse(valueText));
    if (problems === null) return { kind: 'valid' };
    return {
      kind: 'invalid',
      problems: problems.map(({ pointer, message }) => ({
        pointer: toPrintable(pointer, TEXT_CHARACTERS_MAX),
        message: toPrintable(message, TEXT_CHARACTERS_MAX),
      })),
    };
  } catch (error) {
    // Whatever a schema makes the library throw: a reference to nowhere, a pattern, a stack that is too deep.
    if (!(error instanceof Error)) throw error;
    const message = error instanceof RangeError ? ENDLESS : error.message;
    return { kind: 'schema_broken', message: toPrintable(message, TEXT_CHARACTERS_MAX) };
  }
}

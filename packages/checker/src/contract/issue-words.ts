import { toPrintable } from '@kervyxa/core';
import type { z } from 'zod';

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

/** What an issue of a schema says: `expected …, got …`. */
export function wordsOf(issue: z.core.$ZodIssue, value: unknown): string {
  return `${expectationOf(issue)}, got ${describe(value)}`;
}

function expectationOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${TYPE_WORDS[issue.expected] ?? issue.expected}`;
    case 'too_big':
      return `expected at most ${amountOf(issue.maximum, issue.origin)}`;
    case 'too_small':
      return `expected at least ${amountOf(issue.minimum, issue.origin)}`;
    case 'invalid_value':
      return `expected ${issue.values.map(String).join(' or ')}`;
    case 'invalid_union':
      return 'options' in issue && Array.isArray(issue.options)
        ? `expected ${issue.options.join(', ')}`
        : issue.message;
    case 'invalid_format':
      return issue.format === 'datetime' ? 'expected a time as RFC 3339 has it' : issue.message;
    default:
      return issue.message;
  }
}

function amountOf(amount: number | bigint, origin: string): string {
  if (origin === 'string') return `${amount} characters`;
  if (origin === 'array') return amount === 1 ? '1 element' : `${amount} elements`;
  return String(amount);
}

function describe(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'string') {
    return value.length <= 60 ? `"${toPrintable(value)}"` : `${[...value].length} characters`;
  }
  if (Array.isArray(value)) return amountOf(value.length, 'array');
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

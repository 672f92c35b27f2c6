import { describe, expect, it } from 'vitest';

import { compileLinearRegex } from './linear-regex.ts';

describe('compileLinearRegex', () => {
  it.each([
    ['TypeError', 'throws TypeError here', true],
    ['^TypeError$', 'a\nTypeError\nb', false],
    ['(?m)^TypeError$', 'a\nTypeError\nb', true],
    ['(?i)typeerror', 'TYPEERROR', true],
    ['^\\d+$', '12a', false],
    ['\\p{Greek}', 'λ', true],
  ])('finds %j in %j: %s', (source, text, found) => {
    expect(compileLinearRegex(source).test(text)).toBe(found);
  });

  it('answers for the pattern and text that make a backtracking engine hang', () => {
    expect(compileLinearRegex('^(a|a*)*b$').test('a'.repeat(50_000))).toBe(false);
  });

  it.each([
    ['a back-reference', '(a)\\1'],
    ['a look-behind', '(?<=a)b'],
    ['a look-ahead', 'a(?=b)'],
    ['an open class', '['],
    ['a repeat of repeats', '(a{1000}){1000}'],
    ['a long pattern', 'a'.repeat(1_025)],
    ['a large program', '\\pL{900}'.repeat(6)],
  ])('refuses %s', (_what, source) => {
    expect(() => compileLinearRegex(source)).toThrow(
      expect.objectContaining({ code: 'CONTRACT_REGEX_REFUSED' }),
    );
  });
});

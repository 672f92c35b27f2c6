import { expect, it } from 'vitest';
import { canonicalJson } from './digest.ts';
import { toPrintable } from './printable.ts';

it('cuts no character in half: canonical JSON and the database would refuse the whole result', () => {
  const shown = toPrintable('😀😀', 3);
  expect(shown.isWellFormed()).toBe(true);
  expect(canonicalJson(shown)).toBe(`"${shown}"`);
  expect(shown.startsWith('😀')).toBe(true);
});

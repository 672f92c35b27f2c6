import { expect, it } from 'vitest';
import { canonicalJson } from './digest.ts';
import { escapeJson, toPrintable } from './printable.ts';

it('cuts no character in half: canonical JSON and the database would refuse the whole result', () => {
  const shown = toPrintable('😀😀', 3);
  expect(shown.isWellFormed()).toBe(true);
  expect(canonicalJson(shown)).toBe(`"${shown}"`);
  expect(shown.startsWith('😀')).toBe(true);
});

const HOSTILE = [
  ['a newline', 'a\nb', 'a\\u{a}b'],
  ['ESC', '\u001b[2J', '\\u{1b}[2J'],
  ['an eight-bit CSI', '\u009b2J', '\\u{9b}2J'],
  ['a line separator', 'a\u2028b', 'a\\u{2028}b'],
  ['an override of direction', '\u202egpj.js', '\\u{202e}gpj.js'],
  ['a joiner', 'a\u200db', 'a\\u{200d}b'],
  ['a letter that is blank', 'a\u3164', 'a\\u{3164}'],
  ['invisible tags', 'a\u{e0041}', 'a\\u{e0041}'],
  ['half a character', '\ud800', '\\u{d800}'],
] as const;

it.each(HOSTILE)('M22 BUG-47 shows %s in a name as an escape', (_what, name, shown) => {
  expect(toPrintable(name)).toBe(shown);
});

it.each(HOSTILE)('M22 BUG-47 has no %s in JSON text, and says the same', (_what, name) => {
  const text = escapeJson(JSON.stringify({ name }));
  expect(text).toMatch(/^[\x20-\x7e]+$/);
  expect(JSON.parse(text)).toEqual({ name });
});

it('leaves honest names as they are', () => {
  for (const name of ['né/😀.txt', '日本語', 'a b', '❤\ufe0f'])
    expect(toPrintable(name)).toBe(name);
});

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { toJsonText } from './json.ts';

it.each([
  ['clears the screen by an eight-bit escape', 'a\u009b2Jb', 'a\\u009b2Jb'],
  ['turns the text round', 'evil\u202egnp.js', 'evil\\u202egnp.js'],
  ['hides a name behind no width', 'a\u200bb\ufeff', 'a\\u200bb\\ufeff'],
  ['writes in invisible tags', 'a\u{e0041}', 'a\\udb40\\udc41'],
  ['is a lone surrogate', '\ud800', '\\ud800'],
  ['is an honest name', 'né/😀.txt', 'né/😀.txt'],
])('a file name that %s', (_, name, shown) => {
  expect(toJsonText([name])).toBe(`[\n  "${shown}"\n]\n`);
});

it('says the same to a program', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary' })), (names) => {
      expect(JSON.parse(toJsonText({ names }))).toEqual({ names });
    }),
  );
});

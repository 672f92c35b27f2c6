import { deepEqual } from 'node:assert/strict';
import { compilePathPattern, foldPath, patternProblem } from '@kervyxa/core';
import * as fc from 'fast-check';
import { soup } from '../arbitraries.ts';
import { defineTarget } from '../target.ts';

const letters = [
  'a',
  'b',
  'A',
  'ab',
  '.',
  '.a',
  '-',
  ' ',
  'é',
  'e\u0301',
  '\u0301',
  '\ufb01',
  '😀',
  'ß',
];
const wild = ['*', '?', '**', '/**/', '**/', '/**', '/', '/'];
const pattern = soup([...letters, ...wild], 8);
const path = soup([...letters, '/', '/a', '/b'], 8).map((text) =>
  text.replaceAll(/\/+/g, '/').replaceAll(/^\/|\/$/g, ''),
);

export const patternTarget = defineTarget('path pattern', {
  input: fc.tuple(pattern, path),
  holds([source, name]) {
    if (patternProblem(source) !== null || name === '') return;
    const compiled = compilePathPattern(source);
    const forms = [(text: string) => text, (text: string) => text.normalize('NFC')];
    const sides = forms.map((form) => ({
      pattern: form(source.replace(/\/$/, '')).split('/'),
      path: form(name).split('/'),
    }));
    const isHit = sides.some((side) => matchesNaively(side.pattern, side.path));
    deepEqual(compiled.matches(name), isHit);
    deepEqual(compiled.matches(Buffer.from(name)), isHit);
    deepEqual(
      compiled.isAncestorOfMatch(name),
      sides.some((side) => liesAboveNaively(side.pattern, side.path)),
    );
  },
});

export const longPatternTarget = defineTarget('path pattern that wants much work', {
  input: fc.tuple(
    fc.constantFrom('*a', '**/', '**/*a/', '?*', 'a*', '*/'),
    fc.integer({ min: 1, max: 200 }),
    fc.constantFrom('a', 'a/', 'aa/', 'b'),
    fc.integer({ min: 1, max: 1_000 }),
  ),
  holds([part, count, piece, length]) {
    const source = `${part.repeat(count)}z`;
    if (patternProblem(source) !== null) return;
    // Far more work than any test has time for, were it more than pattern times path.
    deepEqual(compilePathPattern(source).matches(`${piece.repeat(length)}y`), false);
  },
});

export const foldTarget = defineTarget('names folded', {
  input: soup([...letters, 'İ', 'ı', 'ſ', 'ς', 'Σ', 'ẞ', '\u200d', '\ufeff', 'K', 'ŉ'], 6),
  holds(name) {
    const folded = foldPath(name);
    deepEqual(foldPath(folded), folded);
    for (const twin of [name.normalize('NFD'), name.normalize('NFC'), `${name}\u200d`]) {
      deepEqual(foldPath(twin), folded);
    }
    // An ASCII letter in the other case is the same name.
    const swapped = name.replaceAll(/[a-z]/g, (letter) => letter.toUpperCase());
    deepEqual(foldPath(swapped), folded);
  },
});

/** The pattern is used up by the path, or by a folder above it. */
function matchesNaively(wanted: readonly string[], names: readonly string[]): boolean {
  return names.some((_, index) => takesAll(wanted, names.slice(0, index + 1)));
}

/** A part of the pattern takes the whole path, its last name by a word and not by `**`, and more is to come. */
function liesAboveNaively(wanted: readonly string[], names: readonly string[]): boolean {
  if (matchesNaively(wanted, names)) return false;
  return wanted.some(
    (segment, index) => segment !== '**' && takesAll(wanted.slice(0, index + 1), names),
  );
}

function takesAll([segment, ...rest]: readonly string[], names: readonly string[]): boolean {
  const [name, ...below] = names;
  if (segment === undefined) return name === undefined;
  if (segment === '**') {
    if (rest.length === 0) return name !== undefined;
    return takesAll(rest, names) || (name !== undefined && takesAll([segment, ...rest], below));
  }
  return name !== undefined && takesName([...segment], [...name]) && takesAll(rest, below);
}

function takesName([sign, ...rest]: readonly string[], signs: readonly string[]): boolean {
  const [letter, ...others] = signs;
  if (sign === undefined) return letter === undefined;
  if (sign === '*') {
    return takesName(rest, signs) || (letter !== undefined && takesName([sign, ...rest], others));
  }
  return letter !== undefined && (sign === '?' || sign === letter) && takesName(rest, others);
}

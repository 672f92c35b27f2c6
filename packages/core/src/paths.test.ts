import { describe, expect, it } from 'vitest';
import { compilePathPattern, foldPath, patternProblem } from './paths.ts';

describe('a path pattern', () => {
  const rows: [pattern: string, path: string, matches: boolean, ancestor: boolean][] = [
    ['package.json', 'package.json', true, false],
    ['package.json', 'sub/package.json', false, false],
    ['invoices/', 'invoices/1.pdf', true, false],
    ['invoices/', 'invoices', true, false],
    ['invoices', 'invoices/deep/1.pdf', true, false],
    ['invoices/', 'invoices2/1.pdf', false, false],
    ['protected/**', 'protected/.hidden/x', true, false],
    ['protected/**', 'protected', false, true],
    ['protected/a/b', 'protected', false, true],
    ['protected/a/b', 'protected/a', false, true],
    ['**/.npmrc', '.npmrc', true, false],
    ['**/.npmrc', 'a/b/.npmrc', true, false],
    ['**/.npmrc', 'a/b', false, false],
    ['**/secrets/v.sh', 'deep/secrets', false, true],
    ['*.js', 'x.js', true, false],
    ['*.js', '.x.js', true, false],
    ['*.js', 'src/x.js', false, false],
    ['src/*/x?.js', 'src/a/x1.js', true, false],
    ['src/*/x?.js', 'src/a/b/x1.js', false, false],
    ['a/**/z', 'a/z', true, false],
    ['a/**/z', 'a/b/c/z', true, false],
    ['a*b*c', 'aXbYc', true, false],
    ['a*b*c', 'aXcYb', false, false],
    ['caf?.txt', 'café.txt', true, false],
    ['?', '😀', true, false],
    ['??', 'é', false, false],
    ['*??', 'é', false, false],
    ['*?x', '日本x', true, false],
    ['docs/é', 'docs/e\u0301', true, false],
    ['docs/e\u0301', 'docs/é/deep', true, false],
  ];
  it.each(rows)('%s against %s: match %s, lies above %s', (pattern, path, matches, ancestor) => {
    const compiled = compilePathPattern(pattern);
    expect(compiled.matches(path)).toBe(matches);
    expect(compiled.isAncestorOfMatch(path)).toBe(ancestor);
  });

  it('matches bytes that are not UTF-8', () => {
    expect(
      compilePathPattern('src/*').matches(Uint8Array.from([0x73, 0x72, 0x63, 0x2f, 0xff])),
    ).toBe(true);
  });

  it.each([
    ['verifier/', 'verifier', false],
    ['verifier/a/b.sh', 'verifier/a', true],
    ['verifier/**', 'verifier', true],
    ['*/package.json', 'README.md', false],
    ['packages/*/package.json', 'packages', true],
    ['packages/*/package.json', 'packages/README.md', false],
    ['**/secrets/v.sh', 'secrets', false],
  ])('%s spells the way through %s: %s', (pattern, path, spelled) => {
    expect(compilePathPattern(pattern).spellsAncestor(path)).toBe(spelled);
  });

  it.each([
    ['Verifier/', 'verifier/x', true],
    ['verifier/', 'VERIFIER', true],
    ['*.js', 'X.JS', true],
    ['ŉ'.repeat(512), 'ŉ'.repeat(512), true],
    ['verifier/', 'verified', false],
  ])('%s against %s, letter case aside: %s', (pattern, path, matches) => {
    expect(compilePathPattern(pattern).matchesFolded(path)).toBe(matches);
  });

  it('answers at once for the pattern that makes a backtracking engine hang (D18)', () => {
    expect(compilePathPattern(`${'*a'.repeat(200)}b`).matches('a'.repeat(4_000))).toBe(false);
  });

  it.each([
    ['', 'empty'],
    ['/', 'empty'],
    ['/etc', 'absolute'],
    ['a/../b', 'dot_segment'],
    ['./a', 'dot_segment'],
    ['a//b', 'dot_segment'],
    ['a\nb', 'control_character'],
    ['a\\b', 'control_character'],
    ['+(a|a*)b', 'unsupported'],
    ['a{b,c}', 'unsupported'],
    ['[ab]', 'unsupported'],
    ['!a', 'unsupported'],
    ['a/b**', 'unsupported'],
    ['x'.repeat(2_000), 'too_long'],
  ])('refuses %j as %s', (source, problem) => {
    expect(patternProblem(source)).toBe(problem);
    expect(() => compilePathPattern(source)).toThrow(TypeError);
  });
});

describe('foldPath', () => {
  it.each([
    ['README', 'readme'],
    ['e\u0301', '\u00c9'],
    ['straße', 'STRASSE'],
    ['ſ', 's'],
  ])('takes %j and %j for one', (a, b) => {
    expect(foldPath(a)).toBe(foldPath(b));
  });

  it('keeps different letters apart', () => {
    expect(foldPath('a')).not.toBe(foldPath('b'));
  });
});

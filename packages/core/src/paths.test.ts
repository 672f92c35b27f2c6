import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compilePathPattern, isSpelledOut, foldPath, patternProblem } from './paths.ts';

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
    ['\u212aey', 'Key', true, false],
    ['Key', '\u212aey', true, false],
    ['caf?.txt', 'café.txt', true, false],
    ['?', '😀', true, false],
    ['??', 'é', false, false],
    ['*??', 'é', false, false],
    ['*?x', '日本x', true, false],
    ['docs/é', 'docs/e\u0301', true, false],
    ['docs/e\u0301', 'docs/é/deep', true, false],
    // The accent makes one letter with the k; a shell's check* takes the name all the same.
    ['check*', 'check\u0301.sh', true, false],
    ['check*/run.sh', 'check\u0301', false, true],
    ['a/b?/c', 'a/b\u0301/c', true, false],
    ['*.js', 'x.js\u0301', false, false],
    // Other letters to every file system, however alike they look.
    ['check.sh', 'ｃheck.sh', false, false],
    ['file', 'ﬁle', false, false],
    ['check.sh', 'check\u200d.sh', false, false],
    ['check/', '-check/x', false, false],
    ['-rf', '-rf', true, false],
    ['--', '--/x', true, false],
    ['a b ', 'a b ', true, false],
    ['a b', 'a b ', false, false],
    ['x.', 'x.', true, false],
    ['CON', 'con', false, false],
    ['a:b', 'a:b', true, false],
    ['*', '.hidden/deep/x', true, false],
    ['.*', '.hidden', true, false],
    ['.*', 'hidden', false, false],
    ['**', 'x', true, false],
    ['a/**', 'a', false, true],
    ['a/**', 'a/.b/.c', true, false],
    ['**/a/**', 'a', false, true],
    ['**/a/**', 'x/a/y', true, false],
    ['**/**/z', 'z', true, false],
    ['*a*', 'a', true, false],
    ['???', 'a/b', false, false],
    ['"quoted"', '"quoted"', true, false],
    ["it's", "it's", true, false],
  ];
  it.each(rows)(
    'D16 D21 %j against %j: match %s, lies above %s',
    (pattern, path, matches, ancestor) => {
      const compiled = compilePathPattern(pattern);
      expect(compiled.matches(path)).toBe(matches);
      expect(compiled.isAncestorOfMatch(path)).toBe(ancestor);
    },
  );

  it('D21 is bytes that are not UTF-8: matched as they are', () => {
    const path = Uint8Array.from([...Buffer.from('src/'), 0xff, 0xfe, 0x0a, 0x09, 0x1b]);
    expect(compilePathPattern('src/*').matches(path)).toBe(true);
    expect(compilePathPattern('src/\ufffd*').matches(path)).toBe(false);
  });

  it('D16 gives the answer of the plainest matcher there is', () => {
    const name = (from: string[]) => fc.string({ unit: fc.constantFrom(...from), minLength: 1 });
    const names = name(['a', 'b', '.', 'é', 'e', '\u0301', '😀', ' ', '-']);
    const wanted = name(['a', 'b', '.', 'é', 'e', '\u0301', '😀', '*', '?']);
    const path = fc.array(names, { minLength: 1, maxLength: 5 });
    const pattern = fc.array(fc.oneof(wanted, fc.constant('**')), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(pattern, path, (segments, parts) => {
        const source = segments.join('/');
        fc.pre(patternProblem(source) === null);
        const text = parts.join('/');
        const isMatch =
          covers(source, text) || covers(source.normalize('NFC'), text.normalize('NFC'));
        expect(compilePathPattern(source).matches(text)).toBe(isMatch);
        expect(compilePathPattern(source).matches(Buffer.from(text))).toBe(isMatch);
      }),
      { numRuns: 2_000 },
    );
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
    ['straße', 'STRAẞE', true],
    ['STRASSE', 'straẞe', true],
    ['ΟΔΟΣ*', 'οδος.txt', true],
    ['οδοσ?', 'ΟΔΟΣ1', true],
    ['ı', 'I', true],
    ['İ', 'i\u0307', true],
    ['file', 'ﬁle', true],
    ['K', '\u212a', true],
    ['ｃheck', 'Ｃheck', true],
    ['ｃheck', 'check', false],
    ['check.sh', 'che\u200dck.sh', true],
    ['check.sh', '\u202echeck.sh', true],
  ])('D19 %j against %j, letter case aside: %s', (pattern, path, matches) => {
    expect(compilePathPattern(pattern).matchesFolded(path)).toBe(matches);
  });

  it('D18 makes a backtracking engine hang, by stars in a name or between names: false, at once', () => {
    expect(compilePathPattern(`${'*a'.repeat(200)}b`).matches('a'.repeat(4_000))).toBe(false);
    const between = compilePathPattern(`${'**/a*/'.repeat(14)}b`);
    expect(between.matches(Array(1_000).fill('a').join('/'))).toBe(false);
    const longest = compilePathPattern('a/'.repeat(30));
    expect(longest.matches(Array(30).fill('a').join('/'))).toBe(true);
    expect(longest.isAncestorOfMatch(Array(29).fill('a').join('/'))).toBe(true);
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
    ['a/'.repeat(31), 'too_long'],
    ['a/.', 'dot_segment'],
    ['../a', 'dot_segment'],
    ['@(a)', 'unsupported'],
    ['?(a)', 'unsupported'],
    ['a]', 'unsupported'],
    ['\t', 'control_character'],
    ['a\u001b', 'control_character'],
  ])('D18 refuses %j as %s', (source, problem) => {
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
    ['ẞ', 'ss'],
    ['ς', 'Σ'],
    ['ﬆ', 'ST'],
    ['.g\u200cit', '.git'],
  ])('D19 takes %j and %j for one', (a, b) => {
    expect(foldPath(a)).toBe(foldPath(b));
  });

  it('keeps different letters apart', () => {
    expect(foldPath('a')).not.toBe(foldPath('b'));
  });

  it('D19 takes each letter of Unicode for one with its upper and lower case and its parts', () => {
    const apart: string[] = [];
    for (let code = 0; code < 0x11_0000; code += 1) {
      if (code >= 0xd800 && code < 0xe000) continue;
      const letter = String.fromCodePoint(code);
      const folded = foldPath(letter);
      const same = [letter.toLowerCase(), letter.toUpperCase(), letter.normalize('NFD'), folded];
      if (same.some((other) => other !== letter && foldPath(other) !== folded)) apart.push(letter);
    }
    expect(apart).toEqual([]);
  });
});

/** Whether the path, or a folder above it, is what the pattern says: every choice tried, one after the other. */
function covers(source: string, path: string): boolean {
  const wanted = source.split('/');
  const parts = path.split('/');
  return parts.some((_, index) => matchesAll(wanted, parts.slice(0, index + 1)));
}

function matchesAll([wanted, ...others]: string[], parts: string[]): boolean {
  const [part, ...rest] = parts;
  if (wanted === undefined) return part === undefined;
  if (wanted === '**') {
    if (others.length === 0) return part !== undefined;
    return (
      matchesAll(others, parts) || (part !== undefined && matchesAll([wanted, ...others], rest))
    );
  }
  return part !== undefined && matchesName([...wanted], [...part]) && matchesAll(others, rest);
}

function matchesName([wanted, ...others]: string[], letters: string[]): boolean {
  const [letter, ...rest] = letters;
  if (wanted === undefined) return letter === undefined;
  if (wanted === '*' && matchesName(others, letters)) return true;
  if (letter === undefined || (wanted !== '*' && wanted !== '?' && wanted !== letter)) return false;
  return matchesName(wanted === '*' ? [wanted, ...others] : others, rest);
}

describe('isSpelledOut', () => {
  it.each([
    ['tests/', true],
    ['**/jest.config.*', true],
    ['a/b.js', true],
    ['*.json', false],
    ['**', false],
    ['.*', false],
    ['test?.js', false],
    ['package*.json', false],
  ])('of %s: %s', (source, answer) => {
    expect(isSpelledOut(source)).toBe(answer);
  });
});

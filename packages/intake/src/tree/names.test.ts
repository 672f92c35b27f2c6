import { describe, expect, it } from 'vitest';
import { pathProblem } from './names.ts';

describe('a path in a tree', () => {
  it.each([
    'a',
    'src/.gitignore',
    '.github/x',
    '.gitmodules',
    'né/😀.txt',
    'a b',
    'git~x',
    '...x',
    'CON',
    'aux.txt',
    'a:b',
    '-rf',
    '--',
    '"a"',
    "it's",
    '👩\u200d🔬.md',
    'a\u00a0',
  ])('%s is allowed', (path) => {
    expect(pathProblem(path)).toBeNull();
  });

  it.each([
    '.git',
    'a/.git/config',
    '.GIT',
    '.gIt/x',
    'git~1',
    'GIT~2/x',
    '.git.',
    '.git ',
    '.git . .',
    '.git::$INDEX_ALLOCATION',
    '.g\u200cit',
    '.git\ufeff',
    '.\u206agit/hooks',
  ])('G33 is git’s own folder to some file system as %j: refused', (path) => {
    expect(pathProblem(path)).toMatch(/\.git|ends with/);
  });

  it.each([
    ['', 'empty'],
    ['a//b', 'empty'],
    ['../x', '..'],
    ['a/./b', '.'],
    ['a\nb', 'control'],
    ['a\u001b[2J', 'control'],
    ['a\u007f', 'control'],
    ['a\u009b2J', 'control'],
    ['a\u2028b', 'control'],
    ['\u202egpj.js', 'control'],
    ['a\u2066b', 'control'],
    ['a\tb', 'control'],
    ['a\\b', 'backslash'],
    ['a./b', 'ends with'],
    ['a ', 'ends with'],
    ['x'.repeat(256), '255'],
    ['é'.repeat(128), '255'],
    ['a/'.repeat(1_100), '2048'],
  ])('%j is refused (%s)', (path, why) => {
    expect(pathProblem(path)).toContain(why);
  });
});

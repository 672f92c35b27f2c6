import { describe, expect, it } from 'vitest';

import { buildLinguistTable } from '../scripts/linguist-table.ts';
import { isLanguageAllowed, languageNamed, languagesOf } from './languages.ts';
import table from './linguist-table.json' with { type: 'json' };

describe('languagesOf', () => {
  it.each([
    ['src/a.js', ['JavaScript']],
    ['src/A.PY', ['Python']],
    ['types/x.d.ts', ['TypeScript', 'XML']],
    ['deep/Makefile', ['Makefile']],
    ['src.js/README.md', ['GCC Machine Description', 'Markdown']],
  ])('reads %s by Linguist as %j', (path, languages) => {
    expect(languagesOf(path)?.languages).toEqual(languages);
  });

  it.each(['logo.png', 'bin/run', 'constructor', '__proto__', 'a.toString', ''])(
    'does not know %j',
    (path) => {
      expect(languagesOf(path)).toBeNull();
    },
  );

  it('has the table of the installed linguist-languages', () => {
    expect(table).toEqual(buildLinguistTable());
  });
});

describe('languageNamed', () => {
  it.each([
    ['javascript', 'JavaScript'],
    ['JS', 'JavaScript'],
    ['c++', 'C++'],
    ['elvish speech', null],
    ['constructor', null],
  ])('takes %j as %s', (text, name) => {
    expect(languageNamed(text)).toBe(name);
  });
});

describe('isLanguageAllowed', () => {
  const rows: [
    path: string,
    allowed: string[],
    editable: string[],
    expected: boolean,
    why: string,
  ][] = [
    ['a.js', ['javascript'], [], true, 'it is in the list'],
    ['a.py', ['javascript'], [], false, 'it is code in another language'],
    ['a.html', ['javascript'], [], false, 'markup counts as code'],
    ['a.tsx', ['typescript'], [], true, 'Linguist counts TSX as TypeScript'],
    ['a.h', ['c++'], [], true, 'one of several languages of the extension is in the list'],
    ['a.json', ['javascript'], [], true, 'data passes'],
    ['README.md', ['javascript'], [], true, 'prose passes'],
    ['a.ts', ['javascript'], [], false, 'XML lists .ts, but it is not the own extension of XML'],
    ['a.rs', ['javascript'], [], false, 'XML lists .rs, but it is not the own extension of XML'],
    ['logo.png', ['javascript'], [], false, 'an unknown name needs editablePaths'],
    ['logo.png', ['javascript'], ['*.png'], true, 'an unknown name is in editablePaths'],
    ['a.py', ['javascript'], ['*.py'], false, 'editablePaths does not free known code'],
    ['a.js', [], [], false, 'an empty list allows no code'],
  ];
  it.each(rows)('%s with %j and %j: %s, as %s', (path, allowed, editable, expected) => {
    expect(isLanguageAllowed(path, allowed, editable)).toBe(expected);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { CONTRACT_BYTES_MAX, readContractText } from './contract-text.ts';

const bytesOf = (text: string) => new TextEncoder().encode(text);
const problemOf = (text: string, format: 'json' | 'yaml') => {
  try {
    readContractText(bytesOf(text), format);
  } catch (error) {
    return error;
  }
  return null;
};

// Keeps R-CONTRACT-STRICT.
describe('readContractText, of JSON', () => {
  it('reads any JSON document as JSON.parse does', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 8 }), (text) => {
        expect(readContractText(bytesOf(text), 'json').document).toEqual(JSON.parse(text));
      }),
    );
  });

  it('keeps a __proto__ key as a key, so that the schema can refuse it', () => {
    const { document } = readContractText(bytesOf('{"__proto__": {"title": "x"}}'), 'json');
    expect(Object.keys(document ?? {})).toEqual(['__proto__']);
  });

  it('finds the place of a pointer', () => {
    const { locate } = readContractText(bytesOf('{\n  "a": [1,\n    {"b/c": 2}]\n}'), 'json');
    expect(locate('/a/1/b~1c')).toEqual({ line: 3, column: 13 });
    expect(locate('')).toEqual({ line: 1, column: 1 });
    expect(locate('/a/7')).toBeNull();
    expect(locate('/a/x/y')).toBeNull();
  });

  it.each([
    ['a key twice', '{"a": 1,\n "b": 2,\n "a": 3}', 'CONTRACT_KEY_DUPLICATED', 3, 2],
    ['a key twice by an escape', '{"a": 1, "\\u0061": 3}', 'CONTRACT_KEY_DUPLICATED', 1, 10],
    ['a comment', '{\n// x\n}', 'CONTRACT_TEXT_SYNTAX', 2, 1],
    ['a trailing comma', '{"a": [1,]}', 'CONTRACT_TEXT_SYNTAX', 1, 10],
    ['a second document', '{} {}', 'CONTRACT_TEXT_SYNTAX', 1, 4],
    ['an open object', '{"a": 1', 'CONTRACT_TEXT_SYNTAX', 1, 8],
    ['nothing', '', 'CONTRACT_TEXT_SYNTAX', 1, 1],
    ['NaN', '{"a": NaN}', 'CONTRACT_TEXT_SYNTAX', 1, 7],
    ['65 levels', `${'['.repeat(65)}${']'.repeat(65)}`, 'CONTRACT_TEXT_TOO_DEEP', 1, 65],
    ['a million open arrays', '['.repeat(1_000_000), 'CONTRACT_TEXT_TOO_DEEP', 1, 65],
    ['a blank that only some readers skip', '\u00a0{}', 'CONTRACT_TEXT_SYNTAX', 1, 1],
  ])('refuses %s with its place', (_what, text, code, line, column) => {
    expect(problemOf(text, 'json')).toMatchObject({ code, details: { line, column } });
  });

  it('names the key that stands twice', () => {
    expect(problemOf('{"title": 1, "title": 2}', 'json')).toMatchObject({
      message: expect.stringContaining('"title"'),
    });
  });

  it('says in words what belongs where the text goes wrong', () => {
    expect(problemOf('{"title": }', 'json')).toMatchObject({
      message: 'line 1, column 11: expected JSON, got something else where the value belongs',
    });
  });

  it('reads 64 levels', () => {
    expect(problemOf(`${'['.repeat(64)}${']'.repeat(64)}`, 'json')).toBeNull();
  });

  it('refuses bytes that are not UTF-8', () => {
    expect(() => readContractText(Uint8Array.from([0x22, 0xff, 0x22]), 'json')).toThrow(
      expect.objectContaining({ code: 'CONTRACT_TEXT_NOT_UTF8' }),
    );
  });

  it('refuses one byte more than the cap', () => {
    expect(problemOf(' '.repeat(CONTRACT_BYTES_MAX - 2) + '{}', 'json')).toBeNull();
    expect(problemOf(' '.repeat(CONTRACT_BYTES_MAX - 1) + '{}', 'json')).toMatchObject({
      code: 'CONTRACT_TEXT_TOO_LARGE',
    });
  });
});

describe('readContractText, of YAML', () => {
  it('reads block and flow style, and leaves a date a text', () => {
    const text =
      'title: A\ncriteria:\n  - {id: a, timeoutSeconds: 60}\nclosesAt: 2027-06-30T00:00:00Z\n';
    expect(readContractText(bytesOf(text), 'yaml').document).toEqual({
      title: 'A',
      criteria: [{ id: 'a', timeoutSeconds: 60 }],
      closesAt: '2027-06-30T00:00:00Z',
    });
  });

  it('reads any JSON document as JSON.parse does', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 8 }), (text) => {
        // A key longer than 1,024 characters is no YAML; fast-check makes none that long.
        expect(readContractText(bytesOf(text), 'yaml').document).toEqual(JSON.parse(text));
      }),
    );
  });

  it('finds the place of a pointer', () => {
    const { locate } = readContractText(bytesOf('a:\n  - 1\n  - b: 2\n'), 'yaml');
    expect(locate('/a/1/b')).toEqual({ line: 3, column: 8 });
    expect(locate('/a/9')).toBeNull();
  });

  it('keeps a __proto__ key as a key', () => {
    const { document } = readContractText(bytesOf('__proto__: {title: x}'), 'yaml');
    expect(Object.keys(document ?? {})).toEqual(['__proto__']);
  });

  it.each([
    ['a key twice', 'a: 1\na: 2\n', 'CONTRACT_KEY_DUPLICATED', 2],
    ['a key twice in flow style', '{a: 1, "a": 2}', 'CONTRACT_KEY_DUPLICATED', 1],
    ['an alias bomb', 'a: &a [x]\nb: &b [*a, *a]\nc: [*b, *b]\n', 'CONTRACT_VALUE_NOT_JSON', 1],
    ['an anchor', 'a: &a 1\n', 'CONTRACT_VALUE_NOT_JSON', 1],
    ['a tag', 'a: !!binary aGk=\n', 'CONTRACT_VALUE_NOT_JSON', 1],
    ['an unknown tag', 'a: !x y\n', 'CONTRACT_TEXT_SYNTAX', 1],
    ['a second document', 'a: 1\n---\nb: 2\n', 'CONTRACT_VALUE_NOT_JSON', 2],
    ['infinity', 'a: .inf\n', 'CONTRACT_VALUE_NOT_JSON', 1],
    ['a number as key', '1: a\n', 'CONTRACT_VALUE_NOT_JSON', 1],
    ['a list as key', '? [a]\n: b\n', 'CONTRACT_VALUE_NOT_JSON', 1],
    ['a bad indent', 'a:\n  - b\n c: d\n', 'CONTRACT_TEXT_SYNTAX', 3],
    ['an open list', '[1, 2', 'CONTRACT_TEXT_SYNTAX', 1],
    ['a million open lists', '['.repeat(1_000_000), 'CONTRACT_TEXT_TOO_DEEP', 1],
    ['nested block lists', '- '.repeat(5_000), 'CONTRACT_TEXT_TOO_DEEP', 1],
    ['nested keys', '? '.repeat(5_000), 'CONTRACT_TEXT_TOO_DEEP', 1],
  ])('refuses %s with its line', (_what, text, code, line) => {
    expect(problemOf(text, 'yaml')).toMatchObject({ code, details: { line } });
  });

  it('treats a merge key as a key like any other', () => {
    expect(readContractText(bytesOf('<<: {a: 1}'), 'yaml').document).toEqual({ '<<': { a: 1 } });
  });
});

import { describe, expect, it } from 'vitest';
import { validate } from './validate.ts';

const VALID = { kind: 'valid' };
/** As objects of JSON have it: an own key, and no prototype. */
const json = (text: string): unknown => JSON.parse(text);
const check = (schema: unknown, value: unknown) =>
  validate(JSON.stringify(schema), JSON.stringify(value));

describe('a value', () => {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    required: ['name'],
    properties: {
      name: { type: 'string', pattern: '^[a-z]+$' },
      code: { type: 'string', pattern: '^[0-9]+$' },
      mail: { type: 'string', format: 'email' },
      parts: { type: 'array', items: { $ref: '#' } },
    },
  };

  it('satisfies a schema; a format and a word that nobody knows are annotations', () => {
    const value = { name: 'a', code: '1', mail: 'no address', parts: [{ name: 'b' }] };
    expect(check({ ...schema, 'x-own': 1 }, value)).toEqual(VALID);
  });

  it('does not, and is told where and why', () => {
    const value = { name: 'a', parts: [{ name: 'b' }, { name: 'B' }] };
    expect(check(schema, value)).toEqual({
      kind: 'invalid',
      problems: [{ pointer: '/parts/1/name', message: 'must match pattern "^[a-z]+$"' }],
    });
  });

  it('matches the pattern of another key, and is refused: patterns are told apart', () => {
    expect(check(schema, { name: 'a', code: 'a' })).toMatchObject({
      kind: 'invalid',
      problems: [{ pointer: '/code' }],
    });
  });

  it.each([true, {}])('is anything where the schema is %j', (open) => {
    expect(check(open, [1])).toEqual(VALID);
  });

  it('is nothing where the schema is false', () => {
    expect(check(false, 1)).toMatchObject({ kind: 'invalid' });
  });

  it.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])(
    'has %s as every object does, and is refused where the schema requires it',
    (key) => {
      expect(check({ required: [key] }, {})).toMatchObject({ kind: 'invalid' });
      const own = json(`{"${key}": 1}`);
      expect(check({ required: [key] }, own)).toEqual(VALID);
    },
  );

  it('moves the cursor of a terminal by its keys: the pointer is printable', () => {
    const result = check(
      { additionalProperties: false, patternProperties: { '': { type: 'string' } } },
      { '\u001b[2J': 1 },
    );
    expect(result).toMatchObject({ problems: [{ pointer: '/\\u{1b}[2J' }] });
  });
});

// Keeps R-CHECKER-SCHEMA.
describe('a schema that', () => {
  it.each([
    ['is a number', 3, 'expected an object, true or false'],
    ['is a list', [], 'expected an object, true or false'],
    ['has a word of the wrong type', { type: 'texts' }, 'schema is invalid'],
    ['is of an older draft', { $schema: 'http://json-schema.org/draft-07/schema#' }, 'draft-07'],
    ['fetches from a network', { $ref: 'https://example.com/a.json' }, 'https://example.com'],
    ['fetches from a file', { $ref: 'file:///etc/passwd' }, 'file:///etc/passwd'],
    [
      'calls itself the meta-schema',
      { $id: 'https://json-schema.org/draft/2020-12/schema' },
      'already exists',
    ],
    ['refers to nothing in it', { $ref: '#/$defs/none' }, '#/$defs/none'],
    ['wants a promise for an answer', { $async: true }, '$async'],
    ['lets null in by a word of OpenAPI', { type: 'string', nullable: true }, 'nullable'],
    ['has a key that a reader would lose', json('{"properties":{"__proto__":false}}'), '__proto__'],
    ['looks ahead in a pattern', { pattern: '(?=a)a' }, 'RE2'],
    ['has a pattern of a million states', { pattern: '(a{1000}){1000}' }, 'RE2'],
    ['is 100 levels deep', json(`${'{"not":'.repeat(100)}{}${'}'.repeat(100)}`), '64 levels'],
  ])('%s is no schema that is checked', (_, schema, said) => {
    const result = check(schema, { a: 1 });
    expect(result).toMatchObject({ kind: 'schema_broken', message: expect.stringContaining(said) });
  });
});

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

/** Either part is evaluated by a name that only the running check knows. */
const PARTS = `{
  "$defs": { "a": { "properties": { "x": true } } },
  "anyOf": [{ "$ref": "#/$defs/a" }, { "properties": { "y": true }, "required": ["y"] }],
  "unevaluatedProperties": false
}`;
const UNIQUE = '{"items":{"type":"string"},"uniqueItems":true}';

describe('a value that somebody makes up', () => {
  it.each([
    ['has a key that nothing evaluates', PARTS, '{"x":1,"z":1}', 'invalid'],
    ['calls it as every object calls something', PARTS, '{"x":1,"constructor":1}', 'invalid'],
    ['calls it as its prototype is called', PARTS, '{"x":1,"__proto__":1}', 'invalid'],
    ['has keys that are evaluated', PARTS, '{"x":1,"y":1}', 'valid'],
    ['repeats a text that is no key', UNIQUE, '["__proto__","__proto__"]', 'invalid'],
    ['has the names of what is inherited', UNIQUE, '["__proto__","toString"]', 'valid'],
    [
      'has another order of keys',
      '{"uniqueItems":true}',
      '[{"a":1,"b":2},{"b":2,"a":1}]',
      'invalid',
    ],
    [
      'has numbers that look like texts',
      '{"uniqueItems":true}',
      '[1,"1",[1],{"1":1},true,null]',
      'valid',
    ],
    ['has a valueOf of its own', '{"const":{"valueOf":1}}', '{"valueOf":1}', 'valid'],
    ['has another valueOf', '{"const":{"valueOf":1,"a":1}}', '{"valueOf":1,"a":2}', 'invalid'],
    ['is in a list by its parts', '{"enum":[1,{"toString":[2]}]}', '{"toString":[2]}', 'valid'],
    ['has more keys than the list', '{"enum":[{"a":1}]}', '{"a":1,"__proto__":2}', 'invalid'],
    ['is a number in another spelling', '{"const":100}', '1e2', 'valid'],
    ['is a multiple in decimal alone', '{"multipleOf":0.01}', '19.99', 'valid'],
    ['is none', '{"multipleOf":0.01}', '-19.995', 'invalid'],
    ['is zero', '{"multipleOf":3}', '-0', 'valid'],
    ['is far beyond its divisor', '{"multipleOf":7e-300}', '7e300', 'valid'],
    ['is just beside a multiple', '{"multipleOf":3}', '9007199254740992', 'invalid'],
    [
      'has an inherited name for a pattern',
      '{"patternProperties":{"^c":{"type":"string"}}}',
      '{"constructor":1}',
      'invalid',
    ],
  ])('%s', (_, schema, value, kind) => {
    expect(validate(schema, value)).toMatchObject({ kind });
    // What was taken away meanwhile is there again.
    expect(Object.prototype).toHaveProperty('hasOwnProperty');
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

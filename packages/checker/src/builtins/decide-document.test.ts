import { compileLinearRegex } from '@kervyxa/contract';
import { canonicalJson } from '@kervyxa/core';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decideDocument } from './decide-document.mjs';

const LIBRARIES = { Ajv2020, compileRegex: compileLinearRegex };
const LIST = '{"type":"array","items":{"type":"number"}}';
const TREE = '{"type":"array","items":{"$ref":"#"}}';

const decide = (schema: string | Uint8Array, document: string | Uint8Array) =>
  decideDocument(Buffer.from(schema), Buffer.from(document), LIBRARIES);

describe('a document', () => {
  it.each([
    ['satisfies the schema', LIST, '[1, -2.5e3]'],
    ['has lines of Windows', LIST, '[\r\n1\r\n]\r\n'],
    ['has 256 levels', TREE, '['.repeat(256) + ']'.repeat(256)],
    ['has a key in two objects', '{}', '[{"a":1},{"a":1},{"b":{"a":1}}]'],
    ['has text that looks like keys', '{}', '{"a":"{\\"a\\":1}","b":["a","a"]}'],
  ])('%s: verified', (_, schema, document) => {
    expect(decide(schema, document)).toMatchObject({ result: 'verified', problems: [] });
  });

  it.each([
    ['breaks the schema', LIST, '["1"]'],
    ['is empty', LIST, ''],
    ['ends too early', LIST, '[1'],
    ['has NUL in it', LIST, '[1\0]'],
    ['begins with a mark of byte order', LIST, '\ufeff[1]'],
    ['is no UTF-8', LIST, Buffer.from('["\xff"]', 'latin1')],
    ['has comments', LIST, '[1] // one'],
    ['has 257 levels', TREE, '['.repeat(257) + ']'.repeat(257)],
    ['has 200,000 levels', TREE, '['.repeat(200_000) + ']'.repeat(200_000)],
    ['has a number beyond all bounds', LIST, '[1e999]'],
    ['has such a number deep in an object', '{}', '{"a":[{"b":-1e999}]}'],
    ['has a key twice', '{}', '{"a":1,"b":2,"a":1}'],
    ['has a key twice, once escaped', '{}', '{"a":1,"\\u0061" : 2}'],
    ['hides a key behind quotes', '{}', '{"a\\"":1,"b":"\\\\","a\\"":2}'],
    ['has everything by inheritance alone', '{"required":["toString"]}', '{}'],
    ['sets a prototype', '{"required":["a"]}', '{"__proto__":{"a":1}}'],
  ])('%s: refuted', (_, schema, document) => {
    expect(decide(schema, document)).toMatchObject({ result: 'refuted' });
  });

  it.each([
    ['is no JSON', '{'],
    ['has a key twice', '{"type":"number","type":"array"}'],
    ['refers to a network', '{"$ref":"https://example.com/a.json"}'],
    ['refers to itself without end', '{"$ref":"#"}'],
    ['has a pattern that looks ahead', '{"pattern":"(?=a)"}'],
    ['is of no known type', '{"type":"list"}'],
  ])('is held to a schema that %s: inconclusive', (_, schema) => {
    expect(decide(schema, '[1]')).toMatchObject({ result: 'inconclusive' });
  });

  it('would make a pattern backtrack for ever: refuted', () => {
    const schema = '{"items":{"pattern":"^(a|a)*$"}}';
    expect(decide(schema, `["${'a'.repeat(100_000)}!"]`)).toMatchObject({ result: 'refuted' });
  });

  it('has keys that no record could hold: the answer is short and is JSON', () => {
    const answer = decide(LIST.replace('array', 'object'), `{"\\ud800":"${'\\udfff'.repeat(9)}"}`);
    expect(answer.result).toBe('verified');
    const schema = '{"additionalProperties":{"type":"number"}}';
    const long = decide(schema, `{"\\ud800${'x'.repeat(1_000_000)}":"a"}`);
    expect(long.result).toBe('refuted');
    expect(canonicalJson(long).length).toBeLessThan(1_000);
  });

  it('is anything that JSON can hold: taken as it is', () => {
    fc.assert(
      fc.property(fc.json(), fc.constantFrom(0, 1, 2), (document, indent) => {
        const text = JSON.stringify(JSON.parse(document), null, indent);
        expect(decide('true', text)).toMatchObject({ result: 'verified' });
      }),
    );
  });
});

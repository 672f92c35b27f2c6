import { deepEqual, ok } from 'node:assert/strict';
import { readContractText } from '@kervyxa/contract';
import { canonicalJson } from '@kervyxa/core';
import * as fc from 'fast-check';
import { soup } from '../arbitraries.ts';
import { isStrictJson } from '../naive-json.ts';
import { answerOf, defineTarget } from '../target.ts';

const DEPTH_MAX = 64;
const json = fc.oneof(
  fc.json(),
  soup([
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"a"',
    '"\\u0061"',
    '"',
    '1',
    '-',
    '0',
    '.5',
    'e9',
    'null',
    ' ',
    '\n',
    '//',
    '/**/',
    '\u00a0',
    '\t',
    'true',
    'NaN',
    '\\',
    '__proto__',
  ]),
  fc.tuple(fc.integer({ min: 60, max: 70 }), fc.constantFrom('[', '{"a":')).map(([depth, open]) => {
    return open.repeat(depth) + '1' + (open === '[' ? ']' : '}').repeat(depth);
  }),
  fc.string({ unit: 'binary', maxLength: 20 }),
);

export const jsonTextTarget = defineTarget('contract in JSON', {
  input: json,
  async holds(text) {
    const answer = await answerOf(() => readContractText(Buffer.from(text), 'json').document);
    const sent = Buffer.from(text)
      .toString()
      .replace(/^\ufeff/, '');
    deepEqual('value' in answer, isStrictJson(sent, DEPTH_MAX));
    if ('value' in answer) deepEqual(answer.value, JSON.parse(sent));
  },
});

export const anyBytesTarget = defineTarget('contract of any bytes', {
  input: fc.tuple(fc.uint8Array(), fc.constantFrom('json' as const, 'yaml' as const)),
  async holds([bytes, format]) {
    const answer = await answerOf(() => readContractText(bytes, format).document);
    const isText = Buffer.from(Buffer.from(bytes).toString()).equals(bytes);
    if (!isText) deepEqual(answer, { refused: 'CONTRACT_TEXT_NOT_UTF8' });
  },
});

const word = fc.oneof(
  fc.constantFrom(
    'a',
    'b',
    'true',
    'null',
    '<<',
    '1',
    '~',
    'no',
    '2001-01-01',
    '0x1F',
    '1_0',
    '- x',
  ),
  fc.string({ maxLength: 6 }),
);
const value = fc.letrec<{ any: YamlValue }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    word,
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('any'), { maxLength: 3 }),
    fc.dictionary(word, tie('any'), { maxKeys: 3 }),
  ),
})).any;

type YamlValue = string | number | boolean | null | YamlValue[] | { [key: string]: YamlValue };

export const yamlBackTarget = defineTarget('contract in YAML, as a plain writer writes it', {
  input: value,
  async holds(given) {
    const text = toYaml(given, '');
    const answer = await answerOf(() => readContractText(Buffer.from(text), 'yaml').document);
    deepEqual(answer, { value: JSON.parse(JSON.stringify(given)) });
  },
});

export const yamlSoupTarget = defineTarget('contract in YAML, any', {
  input: fc.oneof(
    soup([
      'a: ',
      'b: ',
      '- ',
      '\n',
      '  ',
      '    ',
      '? ',
      ': ',
      '&x ',
      '*x',
      '!!str ',
      '!t ',
      '---\n',
      '...\n',
      '%YAML 1.1\n',
      '%TAG ! x\n',
      '{',
      '}',
      '[',
      ']',
      ', ',
      '"',
      "'",
      '|\n',
      '>-\n',
      '#c\n',
      '.inf',
      '.nan',
      '<<: ',
      '0o7',
      '1e999',
      'x',
      '\t',
      '__proto__: ',
      '\u2028',
    ]),
    json,
  ),
  async holds(text) {
    const answer = await answerOf(() => readContractText(Buffer.from(text), 'yaml').document);
    if ('refused' in answer) return;
    ok(depthOfPlain(answer.value, new Set()) <= DEPTH_MAX + 1);
    if (!isStrictJson(text, DEPTH_MAX)) return;
    // What is JSON too means the same in both, or is refused by one of them.
    deepEqual(canonicalJson(answer.value), canonicalJson(JSON.parse(text)));
  },
});

/** A value in a line of its own, or below the line that it belongs to. */
function toYaml(given: YamlValue, indent: string): string {
  if (Array.isArray(given)) {
    if (given.length === 0) return `${indent}[]\n`;
    return given.map((each) => `${indent}-\n${toYaml(each, `${indent}  `)}`).join('');
  }
  if (typeof given === 'object' && given !== null) {
    const entries = Object.entries(given);
    if (entries.length === 0) return `${indent}{}\n`;
    return entries
      .map(([key, each]) => `${indent}${JSON.stringify(key)}:\n${toYaml(each, `${indent}  `)}`)
      .join('');
  }
  return `${indent}${JSON.stringify(given)}\n`;
}

/** Throws where there is something that JSON does not have, or one thing in two places. */
function depthOfPlain(document: unknown, above: ReadonlySet<unknown>): number {
  if (typeof document !== 'object' || document === null) {
    ok(['string', 'boolean', 'number'].includes(typeof document) || document === null);
    ok(typeof document !== 'number' || Number.isFinite(document));
    return 0;
  }
  ok(!above.has(document));
  const prototype: unknown = Object.getPrototypeOf(document);
  ok(prototype === Object.prototype || prototype === Array.prototype);
  const inside = new Set([...above, document]);
  const depths = Object.values(document).map((each) => depthOfPlain(each, inside));
  return 1 + Math.max(0, ...depths);
}

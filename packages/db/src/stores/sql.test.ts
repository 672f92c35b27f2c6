import { expect, it } from 'vitest';
import { toJson } from './sql.ts';

it('leaves nothing in JSON text that jsonb can not hold, in names of members either', () => {
  const evidence = { 'a\0b': ['\0', { '\ud800': '\udc00x' }], plain: null };
  expect(JSON.parse(toJson(evidence))).toEqual({
    'a\ufffdb': ['\ufffd', { '\ufffd': '\ufffdx' }],
    plain: null,
  });
});

it('writes all else as JSON has it', () => {
  const value = { at: new Date(0), left: undefined, list: [1, 'ü', undefined], deep: { x: 0.5 } };
  expect(toJson(value)).toBe(JSON.stringify(value));
});

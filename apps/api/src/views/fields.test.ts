import { describe, expect, it } from 'vitest';
import { JsonField } from './fields.ts';

const nested = (depth: number): unknown =>
  Array.from({ length: depth }).reduce<unknown>((inner) => [inner], 0);

describe('a JSON field', () => {
  it.each([
    ['NUL in a text', { a: ['\0'] }],
    ['NUL in a name', { 'a\0': 1 }],
    ['half a character', ['\ud800']],
    ['a number beyond a double', JSON.parse('[1e999]')],
    ['more levels than anybody needs', nested(50_000)],
  ])('is refused with %s, which would end in a defect of ours', (_, value) => {
    expect(JsonField.safeParse(value).success).toBe(false);
  });

  it('is kept as it came otherwise, and is null where it is left out', () => {
    for (const value of [null, 'ü', -0.5, { a: [{ b: true }] }, nested(64)]) {
      expect(JsonField.parse(value)).toEqual(value);
    }
    expect(JsonField.parse(undefined)).toBeNull();
  });
});

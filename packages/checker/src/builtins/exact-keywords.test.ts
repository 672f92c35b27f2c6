import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { EXACT_KEYWORDS } from './exact-keywords.mjs';

/** What a keyword with a value of its own says of a value. */
function says(keyword: string, own: unknown, value: unknown): boolean {
  const definition = EXACT_KEYWORDS.find((each) => each.keyword === keyword);
  const check = definition?.compile?.(own, {}, undefined as never); // None of ours looks at where it stands.
  return check?.call(undefined as never, value) === true;
}

/** Few enough that equal ones come up, keys that objects inherit among them. */
const small = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(0, 1, '0', '1', '', true, false, null),
    fc.array(tie('value'), { maxLength: 2 }),
    fc
      .array(fc.tuple(fc.constantFrom('a', 'valueOf', '__proto__', 'toString'), tie('value')), {
        maxLength: 2,
      })
      // As a reader of JSON makes it: own keys, whatever they are called.
      .map((parts) =>
        JSON.parse(
          `{${parts.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join()}}`,
        ),
      ),
  ),
})).value;

it('takes a value for another exactly where both are equal, in const, enum and uniqueItems', () => {
  fc.assert(
    fc.property(small, small, (one, other) => {
      const isEqual = isDeepStrictEqual(one, other);
      expect(says('const', one, other)).toBe(isEqual);
      expect(says('enum', [[], one], other)).toBe(isEqual || isDeepStrictEqual(other, []));
      expect(says('uniqueItems', true, [one, other])).toBe(!isEqual);
      expect(says('uniqueItems', false, [one, other])).toBe(true);
    }),
    { numRuns: 1_000 },
  );
});

it('divides as on paper', () => {
  const scales = fc.integer({ min: -12, max: 12 });
  const whole = fc.integer({ min: -1_000_000, max: 1_000_000 });
  fc.assert(
    fc.property(whole, fc.integer({ min: 1, max: 999 }), scales, (digits, divisor, scale) => {
      const scaled = (number: number): number => Number(`${number}e${scale}`);
      const isMultiple = digits % divisor === 0;
      expect(says('multipleOf', scaled(divisor), scaled(digits))).toBe(isMultiple);
    }),
  );
});

import { expect, it } from 'vitest';
import { atLeast, isMet, measureInterleaved, median, ratio } from './measure.ts';

it('the median is the middle of an odd number, the mean of the two middles of an even one', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 2, 3])).toBe(2.5);
  expect(() => median([])).toThrow(RangeError);
});

it('ways are measured turn by turn, and the first turn does not count', async () => {
  const order: string[] = [];
  const samples = await measureInterleaved(
    {
      a: async () => order.push('a'),
      b: async () => order.push('b'),
    },
    2,
    () => undefined,
  );
  expect(order).toEqual(['a', 'b', 'a', 'b', 'a', 'b']);
  expect(samples['a']?.runsMs).toEqual([3, 5]);
  expect(samples['b']?.medianMs).toBe(5);
});

it('a target is met from its side, and never by what could not be measured', () => {
  expect([0.2, 0.3, Number.NaN].map((value) => isMet(ratio('', '', value, 0.25)))).toEqual([
    true,
    false,
    false,
  ]);
  expect([0.2, 0.3, Number.NaN].map((value) => isMet(atLeast('', '', value, 0.25)))).toEqual([
    false,
    true,
    false,
  ]);
  expect(isMet(ratio('', '', 7, null))).toBe(true);
});

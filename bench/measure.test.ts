import { expect, it } from 'vitest';
import { measureInterleaved, median } from './measure.ts';

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

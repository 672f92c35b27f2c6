import { expect, it } from 'vitest';
import { percentile, runLanes } from './load.ts';

it('lanes share the items: each is done once, a quick lane does more', async () => {
  const done: number[] = [];
  let letGo: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (letGo = resolve));
  const slow = async (item: number): Promise<void> => {
    await held;
    done.push(item);
  };
  const quick = async (item: number): Promise<void> => {
    done.push(item);
    if (item === 4) letGo();
  };
  await runLanes([slow, quick], [1, 2, 3, 4]);
  expect(done).toEqual([2, 3, 4, 1]);
});

it('the percentile is a value that was measured', () => {
  const values = Array.from({ length: 100 }, (_, index) => 100 - index);
  expect(percentile(values, 0.95)).toBe(95);
  expect(percentile(values, 1)).toBe(100);
  expect(percentile([7], 0.5)).toBe(7);
  expect(() => percentile([], 0.5)).toThrow(RangeError);
});

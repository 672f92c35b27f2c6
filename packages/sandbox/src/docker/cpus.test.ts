import { expect, it } from 'vitest';
import { CpuPool } from './cpus.ts';

it('hands out the least used CPUs, beginning where it is told', () => {
  const pool = new CpuPool(4, 2);
  expect(pool.take(2)).toEqual([2, 3]);
  expect(pool.take(1)).toEqual([0]);
  expect(pool.take(2)).toEqual([1, 2]);
  pool.giveBack([2, 3]);
  expect(pool.take(1)).toEqual([3]);
});

import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';

const { ladder, smallest } = createRequire(import.meta.url)('./heap.cjs');

describe('the limits that are tried', () => {
  it('lie a MiB apart at first, and never more than a thirtieth or so', () => {
    const limits = ladder(1_024);
    expect(limits.slice(0, 3)).toEqual([4, 5, 6]);
    expect(limits.at(-1)).toBeGreaterThan(1_024 / 1.05);
    for (const [index, limit] of limits.slice(1).entries()) {
      expect(limit - limits[index]).toBeGreaterThan(0);
      expect(limit - limits[index]).toBeLessThanOrEqual(Math.max(1, limit / 25));
    }
  });

  it('are the same below, whatever the container has', () => {
    expect(ladder(1_024).slice(0, ladder(100).length)).toEqual(ladder(100));
    expect(ladder(0)).toEqual([4]);
  });
});

describe('the smallest limit', () => {
  it.each([4, 5, 48, 49, 90])('is the first that is enough for %i MiB', async (needed) => {
    const limits = ladder(100);
    let runs = 0;
    const found = await smallest(limits, async (limit) => {
      runs += 1;
      return limit >= needed;
    });
    expect(found).toBe(limits.find((limit) => limit >= needed));
    expect(runs).toBeLessThanOrEqual(Math.ceil(Math.log2(limits.length)));
  });
});

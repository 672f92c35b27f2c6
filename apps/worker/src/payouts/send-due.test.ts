import { describe, expect, it } from 'vitest';
import { nextDelay } from './send-due.ts';

describe('the tries of a payout', () => {
  it('come ever later, at most an hour apart, twelve in all', () => {
    const delays = Array.from({ length: 12 }, (_, failed) => nextDelay(failed));
    expect(delays).toEqual([
      5_000,
      10_000,
      20_000,
      40_000,
      80_000,
      160_000,
      320_000,
      640_000,
      1_280_000,
      2_560_000,
      3_600_000,
      null,
    ]);
  });
});

import { parseContract } from '@kervyxa/contract';
import { describe, expect, it, vi } from 'vitest';
import { helloContract } from '../testing/hello.ts';
import { BEAT_MS, createBeats } from './beats.ts';

const open = parseContract(helloContract());
const hiding = parseContract({
  ...helloContract(),
  criteria: [{ ...helloContract().criteria[0], visibility: 'hidden' }],
});

function clockAt(times: number[]) {
  return { now: () => new Date(0), monotonicMs: () => times.shift() ?? 0 };
}

// Keeps R-HIDDEN-UNTOLD.
describe('what is told of a run', () => {
  it.each([
    [0, BEAT_MS],
    [1, BEAT_MS - 1],
    [BEAT_MS - 1, 1],
    [BEAT_MS, BEAT_MS],
    [7 * BEAT_MS + 1_200, BEAT_MS - 1_200],
  ])('H15 sleeps by hidden bits: what is %d ms old waits %d ms for the beat', (age, wait) => {
    expect(createBeats(clockAt([40, 40 + age]), hiding).waitMs()).toBe(wait);
  });

  it('waits for no beat where nothing is hidden, or where the worker is told to stop', async () => {
    const { signal } = new AbortController();
    expect(await createBeats(clockAt([0]), open).next(signal)).toBeUndefined();
    expect(await createBeats(clockAt([0, 1]), hiding).next(AbortSignal.abort())).toBeUndefined();
  });

  it('waits for the beat and no longer', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    try {
      const { signal } = new AbortController();
      let isTold = false;
      const told = createBeats(clockAt([0, 1_000]), hiding)
        .next(signal)
        .then(() => (isTold = true));
      await vi.advanceTimersByTimeAsync(BEAT_MS - 1_001);
      expect(isTold).toBe(false);
      await vi.advanceTimersByTimeAsync(1);
      await told;
    } finally {
      vi.useRealTimers();
    }
  });
});

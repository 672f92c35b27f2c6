import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createPlaces, GaveWay, type Places } from './places.ts';

const SHARE_MS = 15_000;
const never = new AbortController().signal;

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** Waits for a server that never ends: its end is that of its signal. */
function trickle(places: Places, log: string[], name: string, signal = never) {
  const work = (aborted: AbortSignal) => {
    log.push(name);
    return new Promise<never>((_resolve, reject) => {
      aborted.addEventListener('abort', () => reject(aborted.reason), { once: true });
    });
  };
  const ended = places.at(SHARE_MS, work, signal).catch((error: unknown) => error);
  return { ended };
}

describe('places', () => {
  it('are kept as long as nobody else needs them', async () => {
    const log: string[] = [];
    const places = createPlaces(2);
    const first = trickle(places, log, 'first');
    trickle(places, log, 'second');
    await vi.advanceTimersByTimeAsync(100 * SHARE_MS);
    trickle(places, log, 'third');
    expect(await first.ended).toBeInstanceOf(GaveWay);
    await turn();
    expect(log).toEqual(['first', 'second', 'third']);
  });

  it('trickles for ever at all places: whoever comes next waits for a share at most', async () => {
    const log: string[] = [];
    const places = createPlaces(2);
    const [first, second] = ['first', 'second'].map((name) => trickle(places, log, name));
    const third = places.at(SHARE_MS, async () => 'done', never);
    await vi.advanceTimersByTimeAsync(SHARE_MS - 1);
    expect(log).toEqual(['first', 'second']);
    await vi.advanceTimersByTimeAsync(1);
    expect(await third).toBe('done');
    expect(await first?.ended).toBeInstanceOf(GaveWay);
    const watch = vi.fn<() => void>();
    void second?.ended.then(watch);
    await vi.advanceTimersByTimeAsync(SHARE_MS);
    expect(watch).not.toHaveBeenCalled();
  });

  it('are one while they are narrowed, and never none', async () => {
    const log: string[] = [];
    const places = createPlaces(2);
    trickle(places, log, 'first');
    trickle(places, log, 'second');
    await vi.advanceTimersByTimeAsync(SHARE_MS);
    const widen = places.narrow();
    trickle(places, log, 'third');
    await turn();
    await vi.advanceTimersByTimeAsync(SHARE_MS);
    expect(log).toEqual(['first', 'second', 'third']);
    trickle(places, log, 'fourth');
    await turn();
    await turn();
    expect(log).toEqual(['first', 'second', 'third', 'fourth']);
    trickle(places, log, 'fifth');
    await turn();
    expect(log).not.toContain('fifth');
    widen();
    await turn();
    expect(log).toContain('fifth');
  });

  it('are not waited for by whoever is told to stop', async () => {
    const log: string[] = [];
    const places = createPlaces(1);
    trickle(places, log, 'first');
    const stopping = new AbortController();
    const second = trickle(places, log, 'second', stopping.signal);
    const reason = new Error('stop');
    stopping.abort(reason);
    expect(await second.ended).toBe(reason);
    await vi.advanceTimersByTimeAsync(2 * SHARE_MS);
    expect(log).toEqual(['first']);
  });
});

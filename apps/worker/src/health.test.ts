import { tmpdir } from 'node:os';
import { defineErrors } from '@kervyxa/core';
import { describe, expect, it } from 'vitest';
import { createHealth } from './health.ts';

const IMAGE = `sha256:${'1'.repeat(64)}`;
const { create } = defineErrors({
  SANDBOX_ENGINE_UNAVAILABLE: {
    fault: 'infra',
    retryable: true,
    httpStatus: 503,
    exitCode: 4,
    meaning: 'for the test',
  },
});

/** A machine whose engine breaks and recovers as the test says. */
function machine(options: { diskBytesMin?: number; stateFolder?: string } = {}) {
  let isBroken = false;
  let nowMs = 0;
  const lines: string[] = [];
  const note = (_facts: object, message: string) => void lines.push(message);
  const resolveImage = async () => {
    if (isBroken) throw create('SANDBOX_ENGINE_UNAVAILABLE', { message: 'no answer' });
    return IMAGE;
  };
  const health = createHealth({
    sandbox: { resolveImage, inspect: () => Promise.reject(new Error('not asked')) },
    runtimes: new Map([['kervyxa-runtime/node:22', IMAGE]]),
    stateFolder: tmpdir(),
    log: { info: note, warn: note, error: note },
    clock: { now: () => new Date(), monotonicMs: () => nowMs },
    ...options,
  });
  const wait = (ms: number) => void (nowMs += ms);
  return { health, wait, lines, break: () => (isBroken = true), mend: () => (isBroken = false) };
}

// Keeps R-WORKER-SICK.
describe('a machine', () => {
  it('counts for sick until it was looked at', () => {
    expect(machine().health.problem()).not.toBeNull();
  });

  it('whose engine is gone is sick, says so, and is well again by itself', async () => {
    const one = machine();
    await one.health.check();
    expect(one.health.problem()).toBeNull();
    one.break();
    await one.health.check();
    expect(one.health.problem()).toBe('SANDBOX_ENGINE_UNAVAILABLE: no answer');
    const well = one.health.whenWell(new AbortController().signal);
    one.mend();
    await one.health.check();
    await well;
    expect(one.health.problem()).toBeNull();
    expect(one.lines).toEqual(['well: taking work', 'sick: taking no work', 'well: taking work']);
  });

  it('BUG-42 whose disk is nearly full is sick', async () => {
    const { health } = machine({ diskBytesMin: Number.MAX_SAFE_INTEGER });
    await health.check();
    expect(health.problem()).toMatch(/^expected 9007199254 MB free on the disk of .+, got \d+ MB$/);
  });

  it('that looks well and breaks its jobs rests, longer each time until one ends well', async () => {
    const one = machine();
    await one.health.check();
    for (const ms of [5_000, 10_000]) {
      one.health.blame('ENGINE_UNAVAILABLE');
      expect(one.health.problem()).toBe('a job ended with ENGINE_UNAVAILABLE');
      one.wait(ms - 1);
      await one.health.check();
      expect(one.health.problem()).not.toBeNull();
      one.wait(1);
      await one.health.check();
      expect(one.health.problem()).toBeNull();
    }
    one.health.clear();
    one.health.blame('ENGINE_UNAVAILABLE');
    one.wait(5_000);
    await one.health.check();
    expect(one.health.problem()).toBeNull();
  });

  it('that stays sick says so once, whatever its free bytes are', async () => {
    const one = machine();
    await one.health.check();
    one.break();
    for (let look = 0; look < 3; look += 1) await one.health.check();
    one.health.blame('ENGINE_UNAVAILABLE');
    await one.health.check();
    expect(one.lines).toEqual(['well: taking work', 'sick: taking no work']);
  });

  it('whose folder is gone is sick', async () => {
    const { health } = machine({ stateFolder: '/nowhere/at/all' });
    await health.check();
    expect(health.problem()).toContain('/nowhere/at/all');
  });

  it('is waited for no longer than the signal says', async () => {
    const { health } = machine();
    const giveUp = new AbortController();
    const waiting = health.whenWell(giveUp.signal);
    giveUp.abort();
    await waiting;
    expect(health.problem()).not.toBeNull();
  });
});

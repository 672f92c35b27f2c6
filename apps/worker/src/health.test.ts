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
    ...options,
  });
  return { health, lines, break: () => (isBroken = true), mend: () => (isBroken = false) };
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

  it('whose disk is nearly full is sick', async () => {
    const { health } = machine({ diskBytesMin: Number.MAX_SAFE_INTEGER });
    await health.check();
    expect(health.problem()).toMatch(/^expected 9007199254 MB free on the disk of .+, got \d+ MB$/);
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

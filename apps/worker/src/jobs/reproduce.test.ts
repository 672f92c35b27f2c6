import type { CheckDeps, CheckerPackage, Conformance } from '@kervyxa/checker';
import { describe, expect, it } from 'vitest';
import { FixturesTooSlow, withinTime } from './reproduce.ts';

const DEPS = {} as CheckDeps;
const CHECKER = { digest: 'c'.repeat(64) } as CheckerPackage;
const never = new AbortController().signal;

/** Runs until it is told to end. */
const endless: Conformance = (_deps, _checker, _stage, signal) =>
  new Promise((_done, failed) => {
    signal.addEventListener('abort', () => failed(signal.reason));
  });

describe('the fixtures of a program', () => {
  it('take for ever, to keep a worker from everybody else: they are ended, and say so', async () => {
    const ended = withinTime(endless, 1)(DEPS, CHECKER, 'form', never);
    await expect(ended).rejects.toThrow(FixturesTooSlow);
  });

  it('end with the worker’s own reason where the worker stops', async () => {
    const stopping = new AbortController();
    const ended = withinTime(endless, 60_000)(DEPS, CHECKER, 'form', stopping.signal);
    stopping.abort(new Error('drained'));
    await expect(ended).rejects.toThrow('drained');
  });
});

import type { CheckerPackage, Conformance } from '@kervyxa/checker';
import { describe, expect, it } from 'vitest';
import { FixturesTooSlow, reproduce } from './reproduce.ts';

const CHECKER = {} as CheckerPackage;

function depsOf(conformance: Conformance, fixturesMs: number): Parameters<typeof reproduce>[0] {
  return { conformance, fixturesMs } as Parameters<typeof reproduce>[0];
}

/** Runs until it is told to end. */
const endless: Conformance = (_deps, _checker, _stage, signal) =>
  new Promise((_done, failed) => {
    signal.addEventListener('abort', () => failed(signal.reason));
  });

describe('the fixtures of a published program', () => {
  it('take for ever, to keep a worker from everybody else: they are ended, and say so', async () => {
    const ended = reproduce(depsOf(endless, 1), CHECKER, 'form', new AbortController().signal);
    await expect(ended).rejects.toThrow(FixturesTooSlow);
  });

  it('end with the worker’s own reason where the worker stops', async () => {
    const stopping = new AbortController();
    const ended = reproduce(depsOf(endless, 60_000), CHECKER, 'form', stopping.signal);
    stopping.abort(new Error('drained'));
    await expect(ended).rejects.toThrow('drained');
  });
});

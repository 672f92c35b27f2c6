import type { CheckDeps, CheckerPackage, Conformance, ConformanceReport } from '@kervyxa/checker';
import { describe, expect, it } from 'vitest';
import { FixturesTooSlow, NotConformantHere, orTrouble, withinTime } from './reproduce.ts';

const DEPS = {} as CheckDeps;
const CHECKER = { digest: 'c'.repeat(64) } as CheckerPackage;
const never = new AbortController().signal;

/** Runs until it is told to end. */
const endless: Conformance = (_deps, _checker, _stage, signal) =>
  new Promise((_done, failed) => {
    signal.addEventListener('abort', () => failed(signal.reason));
  });

function reports(problem: string | null): Conformance {
  const report: ConformanceReport = {
    stageKey: 'form',
    programDigest: 'd'.repeat(64),
    image: `sha256:${'1'.repeat(64)}`,
    isConformant: problem === null,
    problem,
    fixtures: [],
  };
  return async () => report;
}

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

// Keeps R-CHECKER-CONFORMANCE.
describe('a program that was accepted', () => {
  it('does not conform on this machine: that is trouble of the machine’s, and no verdict', async () => {
    const asked = orTrouble(reports('it misses 1: right'))(DEPS, CHECKER, 'form', never);
    await expect(asked).rejects.toThrow(NotConformantHere);
    await expect(asked).rejects.toThrow('it misses 1: right');
  });

  it('conforms here too, and is believed', async () => {
    const report = await orTrouble(reports(null))(DEPS, CHECKER, 'form', never);
    expect(report.isConformant).toBe(true);
  });
});

import { describe, expect, it } from 'vitest';
import type { CheckerPackage } from '../package/checker-package.ts';
import type { CheckDeps } from './check-deps.ts';
import type { Conformance, ConformanceReport } from './conformance.ts';
import { NotConformantHere, orTrouble } from './or-trouble.ts';

const DEPS = {} as CheckDeps;
const CHECKER = { digest: 'c'.repeat(64) } as CheckerPackage;
const never = new AbortController().signal;

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

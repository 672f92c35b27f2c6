import type { Conformance } from '@kervyxa/checker';

/** The fixtures of a stage, of which there may be a hundred, took more than all may: somebody else is to have a turn. */
export class FixturesTooSlow extends Error {
  override readonly name = 'FixturesTooSlow';
}

/** The program conformed somewhere, with the image of then: what keeps it from that here is this machine's trouble. */
export class NotConformantHere extends Error {
  override readonly name = 'NotConformantHere';
}

/** All fixtures of one stage get `fixturesMs`. Throws FixturesTooSlow, and what `conformance` throws. */
export function withinTime(conformance: Conformance, fixturesMs: number): Conformance {
  return async (deps, checker, stageKey, signal, listener) => {
    const late = new AbortController();
    const timer = setTimeout(() => {
      const seconds = Math.round(fixturesMs / 1_000);
      late.abort(
        new FixturesTooSlow(`expected the fixtures of ${stageKey} in ${seconds} s, got more`),
      );
    }, fixturesMs);
    try {
      const either = AbortSignal.any([signal, late.signal]);
      return await conformance(deps, checker, stageKey, either, listener);
    } finally {
      clearTimeout(timer);
    }
  };
}

/**
 * For programs that were approved or published, so that no verdict depends on which worker gave it. Throws
 * NotConformantHere, and what `conformance` throws.
 */
export function orTrouble(conformance: Conformance): Conformance {
  return async (deps, checker, stageKey, ...rest) => {
    const report = await conformance(deps, checker, stageKey, ...rest);
    if (report.isConformant) return report;
    throw new NotConformantHere(
      `expected stage ${stageKey} of ${checker.digest} to conform here, as it did when it was accepted: ${report.problem}`,
    );
  };
}

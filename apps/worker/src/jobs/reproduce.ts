import type { Conformance } from '@kervyxa/checker';

/** The fixtures of a stage, of which there may be a hundred, took more than all may: somebody else is to have a turn. */
export class FixturesTooSlow extends Error {
  override readonly name = 'FixturesTooSlow';
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

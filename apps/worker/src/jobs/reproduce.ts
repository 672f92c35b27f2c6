import type { CheckerPackage, ConformanceReport } from '@kervyxa/checker';
import type { JobDeps } from './job.ts';

/** The fixtures of a stage, of which there may be a hundred, took more than all may: somebody else is to have a turn. */
export class FixturesTooSlow extends Error {
  override readonly name = 'FixturesTooSlow';
}

/**
 * Has the program of a stage reproduce its fixtures here, unless it has done so before. Throws FixturesTooSlow, and what
 * `Conformance` throws.
 */
export async function reproduce(
  deps: Pick<JobDeps, 'conformance' | 'fixturesMs' | 'gate' | 'runtimes' | 'sandbox'>,
  checker: CheckerPackage,
  stageKey: string,
  signal: AbortSignal,
): Promise<ConformanceReport> {
  const late = new AbortController();
  const timer = setTimeout(() => {
    const seconds = Math.round(deps.fixturesMs / 1_000);
    late.abort(
      new FixturesTooSlow(`expected the fixtures of ${stageKey} in ${seconds} s, got more`),
    );
  }, deps.fixturesMs);
  try {
    const either = AbortSignal.any([signal, late.signal]);
    return await deps.conformance(deps, checker, stageKey, either);
  } finally {
    clearTimeout(timer);
  }
}

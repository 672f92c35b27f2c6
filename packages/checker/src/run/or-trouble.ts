import type { Conformance } from './conformance.ts';

/** The program conformed somewhere, with the image of then: what keeps it from that here is this machine's trouble. */
export class NotConformantHere extends Error {
  override readonly name = 'NotConformantHere';
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

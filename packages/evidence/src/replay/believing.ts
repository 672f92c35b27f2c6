import { type Conformance, orTrouble } from '@kervyxa/checker';
import type { RecordedResult } from '../result/recorded.ts';

/**
 * How a replay asks whether programs conform. Where the run believed them, one that misses a fixture here is this
 * machine's trouble and says nothing of the bundle; where the run found one broken, that is to be found again.
 */
export function believing(
  { criteria }: Pick<RecordedResult, 'criteria'>,
  conformance: Conformance,
): Conformance {
  const wasBroken = criteria.some(
    ({ type, reason }) => type === 'checker' && reason === 'VERIFIER_BROKEN',
  );
  return wasBroken ? conformance : orTrouble(conformance);
}

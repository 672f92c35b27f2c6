import type { CheckedEvidence } from './evidence.ts';
import type { LifeOutcome } from './story.ts';

/**
 * What the story must come to, computed by hand. Minor units:
 * - Rita brings 50000, which is the reward; Dina and Otto bring 5000 each, which are their bonds: 60000 from outside.
 * - Dina's rerun upholds the pass: half of her bond is Ana's (2500), half the treasury's (2500).
 * - Otto's challenge overturns it: his bond goes back. Ana keeps what she was given, and gets nothing else.
 * - Bela is paid 50000 less the fee of 2.5 % (1250), which is the treasury's: 48750.
 * Transfers: 3 deposits, 1 funding, 2 bonds, 1 forfeited, 1 returned, 1 payout.
 */
export const FORETOLD: LifeOutcome = {
  refusedWith: ['TIME_UNIT_BENCHMARK', 'TIME_UNIT_BENCHMARK'],
  proving: { base: 'FAIL', knownGood: 'PASS', knownBad: 'FAIL', cheats: 'FAIL', replays: 'agree' },
  contract: 'SETTLED',
  submissions: { carl: 'FAILED', ana: 'OVERTURNED', bela: 'PAID' },
  challenges: { rerun: 'UPHELD', overturn: 'OVERTURNED' },
  transferCount: 9,
  chainProblem: null,
  sums: { USD: 0n },
  balances: {
    rita: 0n,
    carl: 0n,
    ana: 2_500n,
    bela: 48_750n,
    dina: 0n,
    otto: 5_000n,
    alma: 0n,
    treasury: 3_750n,
    escrow: 0n,
    bond: 0n,
    outside: -60_000n,
  },
};

/** What the winner's evidence must come to for whoever checks it. */
export const FORETOLD_EVIDENCE: CheckedEvidence = {
  verified: 0,
  verifiedAsOther: 1,
  replay: 'same PASS',
  auditProblem: null,
};

/** Each difference as a sentence. */
export function findDifferences(outcome: LifeOutcome, evidence: CheckedEvidence): string[] {
  const expected = toLines({ ...FORETOLD, evidence: FORETOLD_EVIDENCE });
  const got = toLines({ ...outcome, evidence });
  return [...new Set([...expected.keys(), ...got.keys()])]
    .filter((place) => expected.get(place) !== got.get(place))
    .map((place) => `${place}: expected ${expected.get(place)}, got ${got.get(place)}`);
}

/** Every value of an outcome by its place, such as `balances.ana`. */
function toLines(value: unknown, place = ''): Map<string, string> {
  if (typeof value !== 'object' || value === null) return new Map([[place, String(value)]]);
  return new Map(
    Object.entries(value).flatMap(([name, inner]) => [
      ...toLines(inner, place === '' ? name : `${place}.${name}`),
    ]),
  );
}

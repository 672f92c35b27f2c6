import type { VerificationResult } from '@kervyxa/verifier';
import type { Outcome } from '../fixtures/schema.ts';

/** How a result differs from what expected.json says, or null. */
export function findDifference(result: VerificationResult, outcome: Outcome): string | null {
  const expected = say(outcome.verdict, outcome.reasons);
  const got = say(result.verdict, result.reasons);
  return expected === got ? null : `expected ${expected}, got ${got}`;
}

function say(
  verdict: string | null,
  reasons: readonly { readonly code: string; readonly subject: string | null }[],
): string {
  const list = reasons.map(({ code, subject }) => (subject === null ? code : `${code} ${subject}`));
  return [verdict, ...list].join(' ');
}

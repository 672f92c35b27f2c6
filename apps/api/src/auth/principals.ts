import type { Clock } from '@kervyxa/core';
import type { PrincipalRow } from '@kervyxa/db';

/** Who has which key. A key is looked up by its hash, so no comparison's time tells anything about a right one. */
export interface Principals {
  /** A key that was good a moment ago; undefined where the database has to be asked. */
  recall(keyHash: string): PrincipalRow | undefined;
  /** Null for a key that is unknown, revoked or of a disabled principal. */
  find(keyHash: string): Promise<PrincipalRow | null>;
}

const REMEMBERED_MAX = 10_000;

/** Remembers good keys for `trustMs`; bad ones are never remembered. */
export function createPrincipals(
  lookUp: (keyHash: string) => Promise<PrincipalRow | null>,
  { clock, trustMs }: { readonly clock: Pick<Clock, 'monotonicMs'>; readonly trustMs: number },
): Principals {
  const known = new Map<string, { readonly principal: PrincipalRow; readonly untilMs: number }>();
  return {
    recall(keyHash) {
      const entry = known.get(keyHash);
      if (entry === undefined || clock.monotonicMs() < entry.untilMs) return entry?.principal;
      known.delete(keyHash);
      return undefined;
    },
    async find(keyHash) {
      // The time is taken before the look-up: a slow answer is not trusted for longer.
      const untilMs = clock.monotonicMs() + trustMs;
      const principal = await lookUp(keyHash);
      if (principal === null) return null;
      if (known.size >= REMEMBERED_MAX) known.clear();
      known.set(keyHash, { principal, untilMs });
      return principal;
    },
  };
}

import { setTimeout as delay } from 'node:timers/promises';
import type { Contract } from '@kervyxa/contract';
import type { Clock } from '@kervyxa/core';

/**
 * What becomes of a run with hidden criteria is told at whole multiples of this after its start and at no other time
 * (ADR 0032): a program that is slow where it likes would else tell its solver of every hidden input.
 */
export const BEAT_MS = 5_000;
/** Of a run that has nothing to hide. */
const BATCH_MS = 200;

/** When something may be told of a run. */
export interface Beats {
  /** How long what happens now waits for others to be told with. */
  readonly waitMs: () => number;
  /** Resolves when the end of the run may be told, or when the signal aborts. */
  next(signal: AbortSignal): Promise<void>;
}

/** Begins with the attempt. */
export function createBeats(clock: Clock, { criteria }: Contract, beatMs = BEAT_MS): Beats {
  if (criteria.every(({ visibility }) => visibility === 'public')) {
    return { waitMs: () => BATCH_MS, next: async () => undefined };
  }
  const startedMs = clock.monotonicMs();
  const waitMs = (): number => beatMs - ((clock.monotonicMs() - startedMs) % beatMs);
  return {
    waitMs,
    next: (signal) => delay(waitMs(), undefined, { signal }).catch(() => undefined),
  };
}

import { setTimeout as delay } from 'node:timers/promises';
import { isAppError } from '@kervyxa/core';
import { WorkerStopped } from './job.ts';

const PATIENCE_TRIES = 12;
const PATIENCE_FIRST_MS = 250;
const PATIENCE_MAX_MS = 8_000;

/**
 * What a run came to is worth waiting for a database that restarts, unless the worker is to stop; the attempt's number
 * keeps a repeat harmless.
 */
export async function patiently<T>(write: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await write();
    } catch (error) {
      const isPassing =
        isAppError(error) && error.traits.retryable && error.traits.fault === 'infra';
      const isStopped = signal.reason instanceof WorkerStopped;
      if (!isPassing || isStopped || tries === PATIENCE_TRIES) throw error;
      await delay(Math.min(PATIENCE_FIRST_MS * 2 ** tries, PATIENCE_MAX_MS));
    }
  }
}

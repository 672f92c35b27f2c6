import { setTimeout as delay } from 'node:timers/promises';
import type { Sandbox } from '@kervyxa/sandbox';
import type { Log } from './scheduler/nudge.ts';

/** Removes what programs that were killed left on this engine, until the signal is aborted. Never rejects. */
export async function reapRepeatedly(
  sandbox: Pick<Sandbox, 'reap'>,
  { log, everyMs }: { readonly log: Log; readonly everyMs: number },
  signal: AbortSignal,
): Promise<void> {
  let isFailing = false;
  while (!signal.aborted) {
    try {
      const count = await sandbox.reap(signal);
      if (count > 0) log.warn({ count }, 'removed what a killed program left on the engine');
      isFailing = false;
    } catch (error) {
      // One failure says little: others that use the engine may be removing the same.
      if (isFailing && !signal.aborted)
        log.warn({ err: error }, 'what killed programs left could not be removed');
      isFailing = true;
    }
    await delay(everyMs, undefined, { signal }).catch(() => undefined);
  }
}

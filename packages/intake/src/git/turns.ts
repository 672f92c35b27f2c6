import { orAborted } from './abort.ts';

/** Runs tasks of one key one after another, and tasks of different keys side by side. A task's failure is its own. */
export type InTurn = <T>(key: string, task: () => Promise<T>, signal: AbortSignal) => Promise<T>;

/** An aborted signal ends the wait for a turn; a task that runs ends itself. */
export function createTurns(): InTurn {
  const last = new Map<string, Promise<unknown>>();
  return async (key, task, signal) => {
    const before = last.get(key) ?? Promise.resolve();
    const run = (async () => {
      await orAborted(before, signal);
      return task();
    })();
    // Whoever gave up waiting does not let the next one overtake the task that runs.
    const settled = Promise.allSettled([before, run]);
    last.set(key, settled);
    try {
      return await run;
    } finally {
      if (last.get(key) === settled) last.delete(key);
    }
  };
}

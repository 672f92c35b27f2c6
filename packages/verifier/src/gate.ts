/**
 * Decides what may run at the same time on one worker, over all its verifications. Whoever waits is let in in order of
 * coming, so that neither kind keeps the other out. An aborted signal ends the wait. Never enter it from inside: two
 * that want to be alone would wait for each other.
 */
export interface Gate {
  /** Runs beside others, but never while one is alone. */
  beside<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>;
  /** Runs when nothing else does, and keeps all others waiting. */
  alone<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

interface Waiter {
  readonly isAlone: boolean;
  readonly enter: () => void;
}

export function createGate(): Gate {
  const waiting: Waiter[] = [];
  let runningCount = 0;
  let isTaken = false;

  const admit = (): void => {
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      if (isTaken || (next.isAlone && runningCount > 0)) return;
      waiting.shift();
      runningCount += 1;
      isTaken = next.isAlone;
      next.enter();
    }
  };
  const leave = (): void => {
    runningCount -= 1;
    isTaken = false;
    admit();
  };
  const pass = async <T>(
    isAlone: boolean,
    work: () => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> => {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter = { isAlone, enter: resolve };
    const giveUp = (): void => {
      const place = waiting.indexOf(waiter);
      if (place < 0) return;
      waiting.splice(place, 1);
      reject(signal.reason);
      admit();
    };
    signal.addEventListener('abort', giveUp, { once: true });
    waiting.push(waiter);
    admit();
    try {
      await promise;
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
    try {
      return await work();
    } finally {
      leave();
    }
  };
  return {
    beside: (work, signal) => pass(false, work, signal),
    alone: (work, signal) => pass(true, work, signal),
  };
}

/** Somebody else needed the place of work that had had its share; it may be tried again. */
export class GaveWay extends Error {
  override readonly name = 'GaveWay';
}

/**
 * Places for work that waits for servers of strangers, who can make it wait for ever: whoever has had a share of time
 * goes on only as long as nobody needs the place.
 */
export interface Places {
  /**
   * Does work at a place, in order of coming. After `shareMs` there the work's signal is aborted with GaveWay as soon
   * as somebody needs it.
   */
  at<T>(
    shareMs: number,
    work: (signal: AbortSignal) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T>;
  /** There is one place only until the returned function is called. Whoever is within the share stays. */
  narrow(): () => void;
}

interface Guest {
  readonly leave: AbortController;
  hasHadShare: boolean;
}

export function createPlaces(count: number): Places {
  const waiting: (() => void)[] = [];
  /** The one that came first is the first. */
  const guests = new Set<Guest>();
  let narrowed = 0;

  const admit = (): void => {
    const places = narrowed > 0 ? 1 : count;
    while (guests.size < places && waiting.length > 0) waiting.shift()?.();
    const staying = [...guests].filter(({ leave }) => !leave.signal.aborted);
    const tooMany = Math.max(0, staying.length + waiting.length - places);
    staying
      .filter(({ hasHadShare }) => hasHadShare)
      .slice(0, tooMany)
      .forEach(({ leave }) => leave.abort(new GaveWay('somebody else needed the place')));
  };
  const enter = async (signal: AbortSignal): Promise<Guest> => {
    signal.throwIfAborted();
    const guest = { leave: new AbortController(), hasHadShare: false };
    const { promise, resolve, reject } = Promise.withResolvers<Guest>();
    const come = (): void => {
      guests.add(guest);
      resolve(guest);
    };
    const giveUp = (): void => {
      const at = waiting.indexOf(come);
      if (at < 0) return;
      waiting.splice(at, 1);
      reject(signal.reason);
    };
    signal.addEventListener('abort', giveUp, { once: true });
    waiting.push(come);
    admit();
    return promise.finally(() => signal.removeEventListener('abort', giveUp));
  };
  return {
    at: async (shareMs, work, signal) => {
      const guest = await enter(signal);
      const timer = setTimeout(() => {
        guest.hasHadShare = true;
        admit();
      }, shareMs);
      try {
        return await work(AbortSignal.any([signal, guest.leave.signal]));
      } finally {
        clearTimeout(timer);
        guests.delete(guest);
        admit();
      }
    },
    narrow: () => {
      narrowed += 1;
      admit();
      return () => {
        narrowed -= 1;
        admit();
      };
    },
  };
}

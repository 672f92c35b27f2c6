import { setTimeout as delay } from 'node:timers/promises';
import type { Db } from 'pg-boss';

type ListenHandle = Awaited<ReturnType<NonNullable<Db['listen']>>>;

const CROWD_MS = 10;

/** Tells of what may have come under a name; a hint, so whoever listens also looks from time to time. */
export interface Wakes {
  onReady(name: string, wake: () => void): () => void;
  /** After the commit. Calls while one is under way are told of together. */
  wake(name: string): void;
  close(): Promise<void>;
}

/**
 * NOTIFY inside the transaction that it tells of would have all such transactions commit one after the other; so it is
 * one of its own, afterwards, and not waited for. `onError` is told where it or the listening fails.
 */
export function createWakes(db: Db, channel: string, onError: (error: unknown) => void): Wakes {
  const listeners = new Map<string, Set<() => void>>();
  const wanted = new Set<string>();
  let telling: Promise<void> | null = null;
  let listening: Promise<ListenHandle | null> | null = null;

  const call = (name: string) => listeners.get(name)?.forEach((wake) => wake());
  const callAll = () => [...listeners.keys()].forEach(call);

  const tell = async () => {
    while (wanted.size > 0) {
      const names = [...wanted];
      wanted.clear();
      // Losing the hint in a crash of the server is no loss: nobody waits for the disk.
      await db
        .executeSql(
          `SELECT set_config('synchronous_commit', 'off', true), pg_notify('${channel}', name)
           FROM unnest($1::text[]) AS name`,
          [names],
        )
        .catch(onError);
      // The first is told of at once; in a crowd each hint is for many.
      await delay(CROWD_MS);
    }
    telling = null;
  };

  return {
    onReady: (name, wake) => {
      const mine = listeners.get(name) ?? new Set();
      listeners.set(name, mine.add(wake));
      listening ??= listen(db, channel, call, callAll, onError);
      return () => {
        mine.delete(wake);
        if (mine.size === 0 && listeners.get(name) === mine) listeners.delete(name);
      };
    },
    wake: (name) => {
      call(name);
      wanted.add(name);
      telling ??= tell();
    },
    close: async () => {
      listeners.clear();
      await telling;
      await (await listening)?.close();
    },
  };
}

async function listen(
  db: Db,
  channel: string,
  call: (name: string) => void,
  callAll: () => void,
  onError: (error: unknown) => void,
): Promise<ListenHandle | null> {
  try {
    // Called again after each lost connection, as something may have been missed.
    return (await db.listen?.(channel, call, callAll)) ?? null;
  } catch (error) {
    onError(error);
    return null;
  }
}

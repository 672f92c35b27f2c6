import type { Db } from 'pg-boss';
import type { QueueName } from '../ports.ts';

type ListenHandle = Awaited<ReturnType<NonNullable<Db['listen']>>>;

const CHANNEL = 'kervyxa_queue';

/** Tells of jobs that may have come; a hint, so whoever listens also looks from time to time. */
export interface Wakes {
  onReady(name: QueueName, wake: () => void): () => void;
  /** After the commit that sent a job. Calls while one is under way are told of together. */
  wake(name: QueueName): void;
  close(): Promise<void>;
}

/**
 * NOTIFY inside the transaction that sends a job would have all such transactions commit one after the other; so it is
 * one of its own, afterwards, and not waited for. `onError` is told where it or the listening fails.
 */
export function createWakes(db: Db, onError: (error: unknown) => void): Wakes {
  const listeners = new Map<string, Set<() => void>>();
  const wanted = new Set<QueueName>();
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
          `SELECT set_config('synchronous_commit', 'off', true), pg_notify('${CHANNEL}', name)
           FROM unnest($1::text[]) AS name`,
          [names],
        )
        .catch(onError);
    }
    telling = null;
  };

  return {
    onReady: (name, wake) => {
      const mine = listeners.get(name) ?? new Set();
      listeners.set(name, mine.add(wake));
      listening ??= listen(db, call, callAll, onError);
      return () => mine.delete(wake);
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
  call: (name: string) => void,
  callAll: () => void,
  onError: (error: unknown) => void,
): Promise<ListenHandle | null> {
  try {
    // Called again after each lost connection, as something may have been missed.
    return (await db.listen?.(CHANNEL, call, callAll)) ?? null;
  } catch (error) {
    onError(error);
    return null;
  }
}

import { DEFAULT_STAGE_POLICY } from '@kervyxa/checker';
import type { IdSource } from '@kervyxa/core';
import type { SettlementPolicy } from '@kervyxa/settlement';
import { createClient } from './client.ts';
import { openPool } from './pool.ts';
import type { Database } from './ports.ts';
import { createQueue, type OpenQueue } from './queue/create-queue.ts';
import { createBlobs } from './stores/blobs.ts';
import { createCaseStore } from './stores/case-store.ts';
import { createCheckers } from './stores/checkers/create-checkers.ts';
import type { CheckerDeps } from './stores/checkers/decide-check.ts';
import { createCommands } from './stores/commands.ts';
import { createEventHints, type EventHints } from './stores/event-hints.ts';
import type { ExecuteDeps } from './stores/execute.ts';
import { type Connections, createTransact } from './stores/in-transaction.ts';
import { loadNow } from './stores/load-case.ts';
import { createPayoutStore } from './stores/payout-store.ts';
import { createReads } from './stores/reads.ts';
import { createUpkeep } from './stores/upkeep.ts';
import { createWorkerStore } from './stores/worker-store.ts';

export interface DatabaseOptions {
  readonly policy: SettlementPolicy;
  readonly newId: IdSource;
  /** Of this process, besides those of the queue and its listeners. */
  readonly connectionsMax?: number;
  readonly leaseSeconds?: number;
  readonly reapSeconds?: number;
  /** Trouble in the background; whatever it is, it is tried again. */
  readonly onProblem?: (error: unknown) => void;
}

const CONNECTIONS_MAX = 10;

/**
 * A database whose tables are up to date (`migrateDatabase`). The queue's own tables are made where there are none.
 * Close it before the server stops. Throws DB_URL_INVALID, DB_UNAVAILABLE.
 */
export async function openDatabase(url: string, options: DatabaseOptions): Promise<Database> {
  return toDatabase(await openParts(url, options));
}

export function toDatabase({ connections, deps, queue, hints, close }: DatabaseParts): Database {
  return {
    cases: createCaseStore(connections, deps),
    commands: createCommands(connections, deps),
    reads: createReads(connections, { newId: deps.newId, queue, hints }),
    work: createWorkerStore(connections, deps),
    blobs: createBlobs(connections.pool),
    payouts: createPayoutStore(connections, deps),
    upkeep: createUpkeep(connections, deps),
    checkers: createCheckers(connections, deps),
    queue,
    now: () => loadNow(connections.pool),
    close,
  };
}

export interface DatabaseParts {
  readonly connections: Connections;
  readonly deps: ExecuteDeps & CheckerDeps;
  readonly queue: OpenQueue;
  readonly hints: EventHints;
  close(): Promise<void>;
}

/** What the stores are made of. */
export async function openParts(url: string, options: DatabaseOptions): Promise<DatabaseParts> {
  const { policy, newId, connectionsMax = CONNECTIONS_MAX, onProblem = () => undefined } = options;
  const { leaseSeconds, reapSeconds } = options;
  const pool = await openPool(url, { connectionsMax });
  try {
    const queue = await createQueue(url, {
      onError: onProblem,
      ...(leaseSeconds === undefined ? {} : { leaseSeconds }),
      ...(reapSeconds === undefined ? {} : { reapSeconds }),
    });
    const hints = createEventHints(queue.createWakes('kervyxa_events'));
    const client = createClient(pool);
    const transact = createTransact(pool, ({ queues, streams }) => {
      queue.wake(queues);
      hints.tell(streams);
    });
    return {
      connections: { pool, client, transact },
      deps: {
        policy,
        stagePolicy: DEFAULT_STAGE_POLICY,
        newId,
        sendJob: queue.send,
        sendMany: queue.sendMany,
      },
      queue,
      hints,
      close: async () => {
        await hints.close();
        await queue.close();
        await client.$disconnect();
        await pool.end();
      },
    };
  } catch (error) {
    await pool.end();
    throw error;
  }
}

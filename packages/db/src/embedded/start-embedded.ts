import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from 'pg';
import { toDbError } from '../driver-errors.ts';
import { createDbError } from '../errors.ts';
import { type Layout, layoutOf } from './layout.ts';
import { connectServer, stopServer, urlOf } from './server.ts';

export interface EmbeddedOptions {
  /** Made where there is none; everything of the server is in it. */
  readonly folder: string;
  readonly log: (message: string) => void;
}

export interface EmbeddedDatabase {
  /** Holds a password: for connecting, not for showing. */
  readonly url: string;
  /** Stops the server if nobody else uses it. May be called twice. */
  stop(): Promise<void>;
}

const DATABASE = 'kervyxa';
/** Held by every program that uses the server, shared; whoever gets it alone is the last one, and stops the server. */
const USERS_LOCK = 5_397_844;
const JOIN_TRIES_MAX = 100;
const HEAL_TRIES_MAX = 60;
const HEAL_DELAY_MS = 2_000;

/**
 * A real PostgreSQL for a machine that has none: on a socket in the folder, durable, found again after a kill, started
 * again if it is killed. Several programs may share it. Throws DB_EMBEDDED_*.
 */
export async function startEmbedded({ folder, log }: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const layout = layoutOf(folder);
  let stopping: Promise<void> | null = null;
  const isStopping = () => stopping !== null;
  let healing = Promise.resolve();
  let keeper = await join(layout);
  watch();

  function watch(): void {
    keeper.once('end', () => {
      if (!isStopping()) healing = heal();
    });
  }

  async function heal(): Promise<void> {
    log('PostgreSQL has ended though nobody stopped it: starting it again');
    for (let tries = 1; tries <= HEAL_TRIES_MAX && !isStopping(); tries += 1) {
      try {
        keeper = await join(layout);
        watch();
        return log('PostgreSQL runs again');
      } catch (error) {
        log(`PostgreSQL does not start: ${error instanceof Error ? error.message : String(error)}`);
        await delay(HEAL_DELAY_MS);
      }
    }
  }

  async function stop(): Promise<void> {
    await healing;
    await leave(layout, keeper);
  }

  return { url: await urlOf(layout, DATABASE), stop: () => (stopping ??= stop()) };
}

/** A session that says that we use the server. */
async function join(layout: Layout): Promise<Client> {
  for (let tries = 1; tries <= JOIN_TRIES_MAX; tries += 1) {
    const client = await connectServer(layout, []);
    try {
      await client.query('SELECT pg_advisory_lock_shared($1)', [USERS_LOCK]);
      await createDatabase(client);
      return client;
    } catch (error) {
      await client.end();
      // The last of its other users is stopping it: start it anew.
      if (toDbError(error) === error) throw error;
    }
  }
  throw createDbError('DB_EMBEDDED_FAILED', {
    message: `expected the built-in PostgreSQL to stay, got ${JOIN_TRIES_MAX} times that it stopped`,
    fix: 'Look for a program that starts and stops it again and again.',
  });
}

async function createDatabase(client: Client): Promise<void> {
  // Not by two at once, which PostgreSQL refuses.
  await client.query('SELECT pg_advisory_lock($1)', [USERS_LOCK + 1]);
  const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [
    DATABASE,
  ]);
  if (rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`);
  await client.query('SELECT pg_advisory_unlock($1)', [USERS_LOCK + 1]);
}

async function leave(layout: Layout, client: Client): Promise<void> {
  try {
    await client.query('SELECT pg_advisory_unlock_shared($1)', [USERS_LOCK]);
    const { rows } = await client.query<{ isLast: boolean }>(
      'SELECT pg_try_advisory_lock($1) AS "isLast"',
      [USERS_LOCK],
    );
    if (rows[0]?.isLast === true) await stopServer(layout);
  } catch (error) {
    // It has ended already, or another stops it at this moment.
    if (toDbError(error) === error) throw error;
  } finally {
    await client.end();
  }
}

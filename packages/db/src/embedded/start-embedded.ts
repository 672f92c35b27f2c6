import type { Client } from 'pg';
import { layoutOf } from './layout.ts';
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

/**
 * A real PostgreSQL for a machine that has none: on a socket in the folder, durable, found again after a kill, started
 * again if it is killed. Several programs may share it. Throws DB_EMBEDDED_*.
 */
export async function startEmbedded({ folder, log }: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const layout = layoutOf(folder);
  let stopping: Promise<void> | null = null;
  let keeper = await join();

  async function join(): Promise<Client> {
    const client = await connectServer(layout, []);
    await client.query('SELECT pg_advisory_lock_shared($1)', [USERS_LOCK]);
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [
      DATABASE,
    ]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`);
    client.on('error', () => undefined);
    return client;
  }

  async function leave(): Promise<void> {
    await keeper.query('SELECT pg_advisory_unlock_shared($1)', [USERS_LOCK]);
    const { rows } = await keeper.query<{ isLast: boolean }>(
      'SELECT pg_try_advisory_lock($1) AS "isLast"',
      [USERS_LOCK],
    );
    if (rows[0]?.isLast === true) await stopServer(layout);
    await keeper.end();
  }

  log(`PostgreSQL runs in ${folder}`);
  return { url: await urlOf(layout, DATABASE), stop: () => (stopping ??= leave()) };
}

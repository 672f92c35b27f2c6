import { randomBytes } from 'node:crypto';
import type { Client, Pool } from 'pg';
import { inject } from 'vitest';
import { layoutOf } from '../embedded/layout.ts';
import { connectServer, urlOf } from '../embedded/server.ts';
import { migrateDatabase } from '../migrate/migrate-database.ts';
import { openPool } from '../pool.ts';

/** A migrated database of its own, and connections to it. */
export interface TestDatabase {
  readonly url: string;
  readonly pool: Pool;
  /** Ends the connections and drops the database, whoever is still connected. */
  close(): Promise<void>;
}

const TEMPLATE = 'kervyxa_template';
const TEMPLATE_LOCK = 1;
/** Nothing of a test has to survive a power cut: without waiting for the disk it is quicker. Nowhere else. */
const SETTINGS = [
  'fsync=off',
  'synchronous_commit=off',
  'full_page_writes=off',
  'max_connections=200',
];

/** Copies the migrated template: some 20 ms. For tests of the integration project, whose set-up names the folder. */
export async function openTestDatabase(): Promise<TestDatabase> {
  const layout = layoutOf(inject('testPostgresFolder'));
  const name = `test_${randomBytes(6).toString('hex')}`;
  await withServer(async (server) => {
    await server.query('SELECT pg_advisory_lock($1)', [TEMPLATE_LOCK]);
    await createTemplate(server, await urlOf(layout, TEMPLATE));
    await server.query(`CREATE DATABASE ${name} TEMPLATE ${TEMPLATE}`);
  });
  const url = await urlOf(layout, name);
  const pool = await openPool(url);
  return {
    url,
    pool,
    close: async () => {
      await pool.end();
      await withServer((server) => server.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
    },
  };

  async function withServer(work: (server: Client) => Promise<unknown>): Promise<void> {
    const server = await connectServer(layout, SETTINGS);
    try {
      await work(server);
    } finally {
      await server.end();
    }
  }
}

async function createTemplate(server: Client, url: string): Promise<void> {
  const { rowCount } = await server.query('SELECT 1 FROM pg_database WHERE datname = $1', [
    TEMPLATE,
  ]);
  if (rowCount !== 0) return;
  await server.query(`CREATE DATABASE ${TEMPLATE}`);
  await migrateDatabase(url);
}

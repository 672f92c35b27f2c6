import { randomUUID } from 'node:crypto';
import { DatabaseError, type PoolClient } from 'pg';
import { toDbError } from '../driver-errors.ts';
import { createDbError } from '../errors.ts';
import { openPool } from '../pool.ts';
import { type Migration, readMigrations } from './read-migrations.ts';

/** The lock that Prisma's own `migrate deploy` takes. */
const MIGRATION_LOCK = 72_707_369;
const LOCK_TIMEOUT_MS = 120_000;
const STATEMENT_TIMEOUT_MS = 600_000;

/** Prisma's table of migrations, so that its tools understand the database. */
const HISTORY_TABLE = `CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
  "id" VARCHAR(36) PRIMARY KEY NOT NULL,
  "checksum" VARCHAR(64) NOT NULL,
  "finished_at" TIMESTAMPTZ,
  "migration_name" VARCHAR(255) NOT NULL,
  "logs" TEXT,
  "rolled_back_at" TIMESTAMPTZ,
  "started_at" TIMESTAMPTZ NOT NULL DEFAULT now(),
  "applied_steps_count" INTEGER NOT NULL DEFAULT 0
)`;

/**
 * Brings the tables to this version, all of it in one transaction: a program that is killed half way has changed
 * nothing. Any number of processes may do it at once; one works, the others wait. Answers the names it applied.
 * Throws DB_URL_INVALID, DB_UNAVAILABLE, DB_SCHEMA_UNKNOWN, DB_MIGRATION_FAILED.
 */
export async function migrateDatabase(
  url: string,
  migrations: readonly Migration[] = readMigrations(),
): Promise<readonly string[]> {
  const pool = await openPool(url, {
    applicationName: 'kervyxa-migrate',
    connectionsMax: 1,
    lockTimeoutMs: LOCK_TIMEOUT_MS,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
  });
  const client = await pool.connect();
  // A connection that is lost is told by the statement that meets it.
  client.on('error', () => undefined);
  try {
    await client.query('BEGIN');
    await takeLock(client);
    await client.query('SET LOCAL client_min_messages = warning');
    await client.query(HISTORY_TABLE);
    const pending = planMigrations(migrations, await loadHistory(client));
    for (const migration of pending) await apply(client, migration);
    await client.query('COMMIT');
    return pending.map(({ name }) => name);
  } catch (error) {
    throw toMigrateError(error);
  } finally {
    // Closing the session undoes whatever was not committed.
    client.release(true);
    await pool.end();
  }
}

/** What the server has against us, where whoever runs us can mend it. */
function toMigrateError(error: unknown): unknown {
  if (!(error instanceof DatabaseError)) return toDbError(error);
  switch (error.code) {
    case '42501':
      return createDbError('DB_MIGRATION_FAILED', {
        message: `expected the right to make tables, got ${error.message}`,
        fix: 'Make the user of DATABASE_URL the owner of the database: ALTER DATABASE … OWNER TO ….',
        cause: error,
      });
    case '42703':
      return createDbError('DB_SCHEMA_UNKNOWN', {
        message: `expected an empty database or one of kervyxa’s, got one in which another program keeps a table _prisma_migrations`,
        fix: 'Give kervyxa a database of its own.',
        cause: error,
      });
    case '25006':
      return createDbError('DB_UNAVAILABLE', {
        message: 'expected a server that can be written to, got one that is read-only',
        fix: 'Name the primary server in DATABASE_URL.',
        details: { code: error.code },
      });
    default:
      return toDbError(error);
  }
}

export interface AppliedMigration {
  readonly name: string;
  readonly checksum: string;
  readonly isFinished: boolean;
}

/** Those yet to be applied. What was applied must be the beginning of what this program knows, to the letter. */
export function planMigrations(
  known: readonly Migration[],
  applied: readonly AppliedMigration[],
): readonly Migration[] {
  const failed = applied.find(({ isFinished }) => !isFinished);
  if (failed !== undefined) {
    throw createDbError('DB_MIGRATION_FAILED', {
      message: `expected finished migrations only, got ${failed.name}, which was begun by another tool and did not finish`,
      fix: 'Restore the database from before it, or repair the tables by hand and mark it with `prisma migrate resolve`.',
    });
  }
  applied.forEach(({ name, checksum }, index) => {
    const same = known[index];
    if (same?.name === name && same.checksum === checksum) return;
    const expected = same === undefined ? `no migration after ${known.at(-1)?.name}` : same.name;
    throw createDbError('DB_SCHEMA_UNKNOWN', {
      message: `expected ${expected}, got ${name}${same?.name === name ? ' with another content' : ''} in the database`,
      fix: 'Start the version of the program that made the database, or a newer one.',
    });
  });
  return known.slice(applied.length);
}

async function takeLock(client: PoolClient): Promise<void> {
  try {
    await client.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
  } catch (error) {
    if (!(error instanceof DatabaseError) || error.code !== '55P03') throw error;
    throw createDbError('DB_UNAVAILABLE', {
      message: `expected to change the tables, got another program that has been changing them for ${LOCK_TIMEOUT_MS / 1000} s`,
      fix: 'Wait for it and start again; pg_stat_activity shows it as kervyxa-migrate.',
    });
  }
}

async function loadHistory(client: PoolClient): Promise<AppliedMigration[]> {
  const { rows } = await client.query<{ name: string; checksum: string; isFinished: boolean }>(
    `SELECT migration_name AS name, checksum, finished_at IS NOT NULL AS "isFinished"
       FROM "_prisma_migrations" WHERE rolled_back_at IS NULL ORDER BY migration_name`,
  );
  return rows;
}

async function apply(client: PoolClient, { name, sql, checksum }: Migration): Promise<void> {
  try {
    // Without parameters it goes as one simple query, so that bodies of functions are not cut at their semicolons.
    await client.query(sql);
  } catch (error) {
    if (!(error instanceof DatabaseError) || toDbError(error) !== error) throw error;
    throw createDbError('DB_MIGRATION_FAILED', {
      message: `expected migration ${name} to succeed, got ${error.code}: ${error.message}`,
      fix: 'Nothing was changed. Put right what the message names, and start again.',
      cause: error,
    });
  }
  await client.query(
    `INSERT INTO "_prisma_migrations" (id, checksum, migration_name, finished_at, applied_steps_count)
     VALUES ($1, $2, $3, clock_timestamp(), 1)`,
    [randomUUID(), checksum, name],
  );
}

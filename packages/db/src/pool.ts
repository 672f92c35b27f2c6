import { Pool } from 'pg';
import { createDbError } from './errors.ts';

export interface PoolOptions {
  /** Seen by the operator in pg_stat_activity. */
  readonly applicationName?: string;
  readonly connectionsMax?: number;
  /** How long one statement may run, and wait for a lock. */
  readonly statementTimeoutMs?: number;
  readonly lockTimeoutMs?: number;
}

/**
 * The connections of one process, proved to work. Every session speaks UTC: otherwise a time that a driver wrote and
 * `now()` differ by the server's offset. The caller ends it. Throws DB_URL_INVALID, DB_UNAVAILABLE.
 */
export async function openPool(url: string, options: PoolOptions = {}): Promise<Pool> {
  const pool = createPool(url, options);
  try {
    await pool.query('SELECT 1');
    return pool;
  } catch (error) {
    await pool.end();
    throw toUnavailable(error, url);
  }
}

function createPool(url: string, options: PoolOptions): Pool {
  assertUrl(url);
  const pool = new Pool({
    connectionString: url,
    application_name: options.applicationName ?? 'kervyxa',
    max: options.connectionsMax ?? 10,
    options: '-c timezone=UTC',
    statement_timeout: options.statementTimeoutMs ?? 60_000,
    lock_timeout: options.lockTimeoutMs ?? 30_000,
    idle_in_transaction_session_timeout: 60_000,
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
  });
  // A connection that breaks while nobody uses it is replaced by the pool; whoever needs it next hears of trouble.
  pool.on('error', () => undefined);
  return pool;
}

function assertUrl(url: string): void {
  if (/^postgres(ql)?:\/\/./.test(url)) return;
  // The text may hold a password: it is not repeated.
  throw createDbError('DB_URL_INVALID', {
    message:
      'expected an address such as postgresql://user:password@host:5432/name, got another text',
    fix: 'Set DATABASE_URL to the address of a PostgreSQL database, or unset it to use the built-in one.',
  });
}

/** No word of the driver is repeated: it may quote the connection string. */
function toUnavailable(error: unknown, url: string): Error {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'no answer';
  return createDbError('DB_UNAVAILABLE', {
    message: `expected a PostgreSQL database at ${placeOf(url)}, got ${code}`,
    fix: 'Check that the server runs, and that host, port, name, user and password of DATABASE_URL are right.',
    details: { code },
  });
}

/** Host, port and database of an address, without user and password. */
function placeOf(url: string): string {
  const place = url.replace(/^[a-z]+:\/\//, '').replace(/^.*@/, '');
  return place.split('?')[0] || 'the address given';
}

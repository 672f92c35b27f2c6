import { isAppError } from '@kervyxa/core';
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

/** A server whose host is gone is found out in half a minute; the system's own default is two hours. */
export const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 20_000 } as const;

/**
 * The connections of one process, proved to work. Every session speaks UTC: otherwise a time that a driver wrote and
 * `now()` differ by the server's offset. The caller ends it. Throws DB_URL_INVALID, DB_UNAVAILABLE.
 */
export async function openPool(url: string, options: PoolOptions = {}): Promise<Pool> {
  const pool = createPool(url, options);
  try {
    const { rows } = await pool.query<{ TimeZone: string }>('SHOW timezone');
    assertUtc(rows[0]?.TimeZone);
    return pool;
  } catch (error) {
    await pool.end();
    throw isAppError(error) ? error : toOpenError(error, url);
  }
}

function createPool(url: string, options: PoolOptions): Pool {
  assertUrl(url);
  const pool = new Pool({
    connectionString: url,
    application_name: options.applicationName ?? 'kervyxa',
    max: options.connectionsMax ?? 10,
    // Statements that don't wait for each other's answers share a round trip.
    pipeline: true,
    options: '-c timezone=UTC',
    statement_timeout: options.statementTimeoutMs ?? 60_000,
    lock_timeout: options.lockTimeoutMs ?? 30_000,
    idle_in_transaction_session_timeout: 60_000,
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: 30_000,
    ...KEEP_ALIVE,
  });
  // A connection that breaks while nobody uses it is replaced by the pool; whoever needs it next hears of trouble.
  pool.on('error', () => undefined);
  return pool;
}

function assertUrl(url: string): void {
  if (/^postgres(ql)?:\/\/./.test(url)) return;
  throw createUrlError('another text');
}

/** What the address itself sets comes before what we set, and a proxy may set nothing. */
function assertUtc(timeZone: string | undefined): void {
  if (timeZone === 'UTC') return;
  throw createDbError('DB_URL_INVALID', {
    message: `expected sessions in UTC, got ${timeZone}`,
    fix: 'Take `options` out of DATABASE_URL; behind a proxy, set it to pass on the timezone.',
  });
}

/** No word of the driver is repeated: it may quote the connection string. */
function toOpenError(error: unknown, url: string): Error {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'no answer';
  if (code === 'ERR_INVALID_URL') return createUrlError('one that can’t be read');
  return createDbError('DB_UNAVAILABLE', {
    message: `expected a PostgreSQL database at ${placeOf(url)}, got ${sayCode(code)}`,
    fix: 'Check that the server runs, and that host, port, name, user and password of DATABASE_URL are right.',
    details: { code },
  });
}

const WORDS: Readonly<Record<string, string>> = {
  '28P01': 'a refused login',
  '28000': 'a refused login',
  '3D000': 'no database of this name',
  '42501': 'no right to connect',
  ECONNREFUSED: 'nobody who listens there',
  ENOENT: 'no socket there',
  ENOTFOUND: 'no such host',
};

function sayCode(code: string): string {
  const words = WORDS[code];
  return words === undefined ? code : `${words} (${code})`;
}

/** The text may hold a password: it is not repeated. */
function createUrlError(got: string): Error {
  return createDbError('DB_URL_INVALID', {
    message: `expected an address such as postgresql://user:password@host:5432/name, got ${got}`,
    fix: 'Set DATABASE_URL to such an address, special characters of the password as %23 and the like, or unset it to use the built-in database.',
  });
}

/** Host, port and database of an address, without user and password. */
function placeOf(url: string): string {
  const place = url.replace(/^[a-z]+:\/\//, '').replace(/^.*@/, '');
  return place.split('?')[0] || 'the address given';
}

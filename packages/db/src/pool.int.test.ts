import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toDbError } from './driver-errors.ts';
import { openPool } from './pool.ts';
import { openTestDatabase, type TestDatabase } from './testing/index.ts';

describe('openPool', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openTestDatabase();
  });
  afterAll(() => database.close());

  it('speaks UTC on a server of another zone', async () => {
    await database.pool.query(
      `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET timezone TO ''Europe/Berlin''', current_database()); END $$`,
    );
    const pool = await openPool(database.url);
    expect((await pool.query('SHOW timezone')).rows).toEqual([{ TimeZone: 'UTC' }]);
    await pool.end();
  });

  it('refuses an address that takes the zone away', async () => {
    const opening = openPool(
      `${database.url}&options=${encodeURIComponent('-c timezone=Asia/Tokyo')}`,
    );
    await expect(opening).rejects.toMatchObject({ code: 'DB_URL_INVALID' });
  });

  it.each([
    [
      'a wrong password',
      'DB_UNAVAILABLE',
      (url: string) => url.replace(/:[0-9a-f]+@/, ':hunter2@'),
    ],
    ['nobody there', 'DB_UNAVAILABLE', () => 'postgresql://me:hunter2@127.0.0.1:1/db'],
    [
      'a password that breaks the address',
      'DB_URL_INVALID',
      () => 'postgresql://me:hunter2#@host:port/db',
    ],
    ['another kind of address', 'DB_URL_INVALID', () => 'mysql://me:hunter2@host/db'],
  ])('never repeats the password: %s', async (_, code, toUrl) => {
    const error: unknown = await openPool(toUrl(database.url)).catch((problem: unknown) => problem);
    expect(error).toMatchObject({ code });
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain('hunter2');
  });

  it('says in words what is wrong with an address', async () => {
    const opening = openPool(database.url.replace(/\/test_[0-9a-f]+\?/, '/nowhere?'));
    await expect(opening).rejects.toMatchObject({
      message: 'expected a PostgreSQL database at /nowhere, got no database of this name (3D000)',
    });
  });

  it('outlives the end of a connection that nobody uses', async () => {
    const pool = await openPool(database.url, { connectionsMax: 1 });
    const { rows } = await pool.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const { promise: isLost, resolve } = Promise.withResolvers<void>();
    pool.once('remove', () => resolve());
    await database.pool.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]);
    await isLost;
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    await pool.end();
  });

  it('ends a statement, and a wait for a lock, that takes too long', async () => {
    const pool = await openPool(database.url, { statementTimeoutMs: 200, lockTimeoutMs: 20 });
    const sleep = await pool.query('SELECT pg_sleep(60)').catch(toDbError);
    expect(sleep).toMatchObject({ code: 'DB_UNAVAILABLE', details: { what: '57014' } });
    const owner = await database.pool.connect();
    await owner.query('BEGIN; LOCK TABLE workers');
    const wait = await pool.query('SELECT 1 FROM workers').catch(toDbError);
    expect(wait).toMatchObject({ code: 'DB_UNAVAILABLE', details: { what: '55P03' } });
    await owner.query('ROLLBACK');
    owner.release();
    await pool.end();
  });
});

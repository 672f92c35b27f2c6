import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient, type PrismaClient } from './client.ts';
import { brokenUniqueConstraint, isConflict, toDbError } from './driver-errors.ts';
import { openPool } from './pool.ts';
import { openTestDatabase, type TestDatabase } from './testing/index.ts';

const INSERT = `INSERT INTO principals (id, name, roles) VALUES ('prn_new', 'taken', '{solver}')`;
const NEW = { id: 'prn_new', name: 'taken', roles: ['solver'] };

describe('what the drivers throw', () => {
  let database: TestDatabase;
  let client: PrismaClient;
  beforeAll(async () => {
    database = await openTestDatabase();
    client = createClient(database.pool);
    await client.principal.create({ data: { ...NEW, id: 'prn_old' } });
  });
  afterAll(async () => {
    await client.$disconnect();
    await database.close();
  });

  it.each([
    ['of pg', () => database.pool.query(INSERT)],
    ['of Prisma', () => client.principal.create({ data: NEW })],
    ['of a raw query', () => client.$executeRawUnsafe(INSERT)],
    ['in a transaction', () => client.$transaction((sql) => sql.principal.create({ data: NEW }))],
  ])('names the unique constraint %s', async (_, work) => {
    const error: unknown = await Promise.resolve(work()).catch((problem: unknown) => problem);
    expect(brokenUniqueConstraint(error)).toBe('principals_name_key');
    expect(toDbError(error)).toBe(error);
    expect(isConflict(error)).toBe(false);
  });

  // Two transactions read all and write one row each: only one order of them can be, so one must lose.
  it.each([
    ['in a statement', true],
    ['at COMMIT', false],
  ])('knows a lost serialization %s', async (_, isLateWrite) => {
    const bothHaveRead = Promise.withResolvers<void>();
    const firstIsDone = Promise.withResolvers<void>();
    let readers = 0;
    const work = (id: string, isSecond: boolean) =>
      client.$transaction(
        async (sql) => {
          await sql.worker.count();
          readers += 1;
          if (readers === 2) bothHaveRead.resolve();
          await bothHaveRead.promise;
          if (isSecond && isLateWrite) await firstIsDone.promise;
          await sql.worker.create({
            data: { id, host: '', version: '', slots: 1, state: 'READY' },
          });
          if (isSecond) await firstIsDone.promise;
        },
        { isolationLevel: 'Serializable' },
      );
    const name = String(isLateWrite);
    const second = work(`second-${name}`, true).catch((problem: unknown) => problem);
    await work(`first-${name}`, false);
    firstIsDone.resolve();
    expect(isConflict(await second)).toBe(true);
  });

  it('knows a deadlock of pg', async () => {
    const [one, two] = [await database.pool.connect(), await database.pool.connect()];
    await one.query('BEGIN; SELECT pg_advisory_xact_lock(1)');
    await two.query('BEGIN; SELECT pg_advisory_xact_lock(2)');
    const ends = await Promise.allSettled([
      one.query('SELECT pg_advisory_xact_lock(2)'),
      two.query('SELECT pg_advisory_xact_lock(1)').finally(() => two.query('ROLLBACK')),
    ]);
    await one.query('ROLLBACK');
    one.release();
    two.release();
    const lost = ends
      .filter((end) => end.status === 'rejected')
      .map(({ reason }) => reason as unknown);
    expect(lost.map(isConflict)).toEqual([true]);
  });

  it('tells a lost connection without the driver’s words', async () => {
    const pool = await openPool(database.url, { connectionsMax: 1 });
    const lost: unknown = await createClient(pool)
      .$queryRawUnsafe('SELECT pg_terminate_backend(pg_backend_pid())')
      .catch((problem: unknown) => problem);
    await pool.end();
    expect(toDbError(lost)).toMatchObject({ code: 'DB_UNAVAILABLE' });
  });
});

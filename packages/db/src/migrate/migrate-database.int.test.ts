import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../testing/index.ts';
import { migrateDatabase } from './migrate-database.ts';
import { type Migration, readMigrations } from './read-migrations.ts';

// Keeps R-DB-MIGRATE.
describe('migrateDatabase', () => {
  let database: TestDatabase;
  const known = readMigrations();

  beforeEach(async () => {
    database = await openTestDatabase();
  });
  afterEach(() => database.close());

  it('does nothing in a database that has this version', async () => {
    expect(await migrateDatabase(database.url)).toEqual([]);
  });

  it('works once where many programs start at once, in an empty database', async () => {
    const url = await createEmptyDatabase(database);
    const applied = await Promise.all(Array.from({ length: 8 }, () => migrateDatabase(url)));
    expect(applied.filter((names) => names.length > 0)).toEqual([known.map(({ name }) => name)]);
  });

  it('changes nothing where a migration fails, and goes on once that is put right', async () => {
    const broken = makeMigration('CREATE TABLE half (id int); CREATE TABLE half (id int)');
    await expect(migrateDatabase(database.url, [...known, broken])).rejects.toMatchObject({
      code: 'DB_MIGRATION_FAILED',
      message: expect.stringContaining('42P07'),
    });
    const right = makeMigration('CREATE TABLE half (id int)');
    expect(await migrateDatabase(database.url, [...known, right])).toEqual([right.name]);
  });

  it('leaves nothing half when the connection is cut in the middle of it', async () => {
    const suicide = makeMigration(
      'CREATE TABLE half (id int); SELECT pg_terminate_backend(pg_backend_pid())',
    );
    await expect(migrateDatabase(database.url, [...known, suicide])).rejects.toMatchObject({
      code: 'DB_UNAVAILABLE',
    });
    expect(await migrateDatabase(database.url)).toEqual([]);
    const { rows } = await database.pool.query(`SELECT to_regclass('half') AS half`);
    expect(rows).toEqual([{ half: null }]);
  });

  it('refuses a database that a newer program made', async () => {
    await migrateDatabase(database.url, [...known, makeMigration('SELECT 1')]);
    await expect(migrateDatabase(database.url)).rejects.toMatchObject({
      code: 'DB_SCHEMA_UNKNOWN',
      message: expect.stringContaining('20990101000000_test'),
    });
  });

  it('refuses a database in which a migration was another than it is now', async () => {
    await database.pool.query(
      `UPDATE "_prisma_migrations" SET checksum = 'x' WHERE migration_name = $1`,
      [known[0]?.name],
    );
    await expect(migrateDatabase(database.url)).rejects.toMatchObject({
      code: 'DB_SCHEMA_UNKNOWN',
      message: expect.stringContaining('with another content'),
    });
  });

  it('refuses a database in which another tool began a migration and failed', async () => {
    await database.pool.query(
      `INSERT INTO "_prisma_migrations" (id, checksum, migration_name) VALUES ('1', 'x', '20990101000000_other')`,
    );
    await expect(migrateDatabase(database.url)).rejects.toMatchObject({
      code: 'DB_MIGRATION_FAILED',
      fix: expect.stringContaining('prisma migrate resolve'),
    });
  });

  it('is of a user without rights: names the right, and is no defect of ours', async () => {
    const url = await createEmptyDatabase(database);
    const weak = `weak_${randomBytes(6).toString('hex')}`;
    await database.pool.query(`CREATE ROLE ${weak} LOGIN PASSWORD 'weak'`);
    const weakUrl = url.replace(/\/\/[^@]+@/, `//${weak}:weak@`);
    await expect(migrateDatabase(weakUrl)).rejects.toMatchObject({
      code: 'DB_MIGRATION_FAILED',
      message: expect.stringContaining('permission denied'),
      fix: expect.stringContaining('OWNER'),
    });
    await database.pool.query(`DROP ROLE ${weak}`);
  });

  it('takes back what words alone had approved and nobody had funded, and leaves what holds money as it is', async () => {
    const url = await createEmptyDatabase(database);
    await migrateDatabase(
      url,
      known.filter(({ name }) => name < '20261201062348'),
    );
    await run(url, BEFORE_PROVING);
    await migrateDatabase(url);
    expect(
      await rowsOf(url, 'SELECT id, state, approval_state FROM contracts ORDER BY id'),
    ).toEqual([
      { id: 'con_asked', state: 'DRAFT', approval_state: 'RUNNING' },
      { id: 'con_open', state: 'OPEN', approval_state: 'DONE' },
      { id: 'con_proved', state: 'DRAFT', approval_state: 'NONE' },
    ]);
    await run(url, `UPDATE contracts SET state = 'IN_CHALLENGE' WHERE id = 'con_open'`);
    await run(url, `UPDATE contracts SET state = 'OPEN' WHERE id = 'con_open'`);
    // Its worker was of the version before, and has no report.
    const proveByWords = `UPDATE contracts SET state = 'PROVED', approval_state = 'DONE' WHERE id = 'con_asked'`;
    await expect(run(url, proveByWords)).rejects.toMatchObject({ constraint: 'contracts_proved' });
  });

  it('meets the table of another program under the name of its own: refuses the database', async () => {
    const url = await createEmptyDatabase(database);
    await run(url, 'CREATE TABLE "_prisma_migrations" (version int)');
    await expect(migrateDatabase(url)).rejects.toMatchObject({ code: 'DB_SCHEMA_UNKNOWN' });
  });

  it('meets a server that is read-only: waits for one that is not', async () => {
    const url = await createEmptyDatabase(database);
    const name = /\/(empty_[0-9a-f]+)/.exec(url)?.[1];
    await run(database.url, `ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    await expect(migrateDatabase(url)).rejects.toMatchObject({ code: 'DB_UNAVAILABLE' });
  });
});

/** A contract at each stage of a database from before contracts were proved in containers. */
const BEFORE_PROVING = `
  BEGIN;
  INSERT INTO principals (id, name, roles) VALUES ('req', 'requester', '{requester}');
  INSERT INTO contracts (id, requester_id, document, digest, draft_digest, title, contract_kind, repository_url,
    base_commit, closes_at, reward_minor, currency, fee_bps, window_seconds, response_seconds, bond_minor, invited_ids,
    invite_only, needs_claim)
  SELECT 'con_' || name, 'req', '{}', 'sha256:' || repeat('a', 64), 'sha256:' || encode(sha256(name::bytea), 'hex'),
    'title', 'bug_fix', 'https://example.org/r.git', repeat('c', 40), now() + interval '1 day', 100, 'USD', 250, 3600,
    3600, 5, '{}', false, false
  FROM unnest(ARRAY['asked', 'proved', 'open']) AS name;
  UPDATE contracts SET approval_state = 'RUNNING' WHERE id = 'con_asked';
  UPDATE contracts SET state = 'PROVED', approval_state = 'DONE' WHERE id <> 'con_asked';
  INSERT INTO ledger_accounts (name, currency, may_overdraw) VALUES
    ('outside/deposits/USD', 'USD', true), ('escrow/con_open', 'USD', false);
  INSERT INTO ledger_transfers (id, seq, kind, idempotency_key, input_hash, currency, prev_hash, hash, recorded_at)
    SELECT 'fund', seq + 1, 'deposit', 'fund', repeat('b', 64), 'USD', hash, repeat('b', 64), now() FROM ledger_head;
  INSERT INTO ledger_postings VALUES ('fund', 0, 'outside/deposits/USD', 'escrow/con_open', 100);
  INSERT INTO escrows (contract_id, amount_minor, currency, transfer_id) VALUES ('con_open', 100, 'USD', 'fund');
  UPDATE contracts SET state = 'OPEN' WHERE id = 'con_open';
  COMMIT`;

async function rowsOf(url: string, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

function makeMigration(sql: string): Migration {
  return { name: '20990101000000_test', sql, checksum: sql.length.toString() };
}

/** On the server of the test's database; dropped with that server. */
async function createEmptyDatabase({ url }: TestDatabase): Promise<string> {
  const name = `empty_${randomBytes(6).toString('hex')}`;
  await run(url, `CREATE DATABASE ${name}`);
  return url.replace(/\/test_[0-9a-f]+\?/, `/${name}?`);
}

async function run(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

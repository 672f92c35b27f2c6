import { DatabaseError, type PoolClient } from 'pg';
import { openTestDatabase } from './open-test-database.ts';
import { seedWorld } from './seed-world.ts';

export interface World {
  /** Does the work in a transaction that is undone, whatever comes of it. */
  readonly inVain: <T>(work: (sql: PoolClient) => Promise<T>) => Promise<T>;
  /** The name of the rule that refuses the script, or at the latest its commit; else 'accepted'. Leaves no trace. */
  readonly refusalOf: (script: string) => Promise<string>;
  readonly close: () => Promise<void>;
}

/** A database with the rows of `seedWorld`, to break rules in. */
export async function openWorld(): Promise<World> {
  const database = await openTestDatabase();
  await seedWorld(database.pool);

  async function inVain<T>(work: (sql: PoolClient) => Promise<T>): Promise<T> {
    const sql = await database.pool.connect();
    try {
      await sql.query('BEGIN');
      return await work(sql);
    } finally {
      await sql.query('ROLLBACK');
      sql.release();
    }
  }

  return {
    inVain,
    refusalOf: (script) => inVain((sql) => tryScript(sql, script)),
    close: database.close,
  };
}

async function tryScript(sql: PoolClient, script: string): Promise<string> {
  try {
    await sql.query(script);
    await sql.query('SET CONSTRAINTS ALL IMMEDIATE');
    return 'accepted';
  } catch (error) {
    if (error instanceof DatabaseError) return error.constraint ?? error.message;
    throw error;
  }
}

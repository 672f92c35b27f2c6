import { afterEach, describe, expect, it } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../testing/index.ts';
import { migrateDatabase } from './migrate-database.ts';

describe('migrateDatabase', () => {
  let database: TestDatabase;
  afterEach(() => database.close());

  it('does nothing in a database that has this version', async () => {
    database = await openTestDatabase();
    expect(await migrateDatabase(database.url)).toEqual([]);
  });
});

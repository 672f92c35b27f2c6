import { describeCaseStore } from '@kervyxa/settlement/shared-suite';
import { afterAll, beforeAll } from 'vitest';
import { openCaseBench } from '../testing/open-case-bench.ts';
import { openTestDatabase, type TestDatabase } from '../testing/open-test-database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

describeCaseStore('contracts in PostgreSQL', (policy) => openCaseBench(database, policy), {
  historyCount: 50,
  timeoutMs: 110_000,
});

import { randomBytes } from 'node:crypto';
import { createIdSource } from '@kervyxa/core';
import type { SettlementPolicy } from '@kervyxa/settlement';
import { describeCaseStore } from '@kervyxa/settlement/shared-suite';
import { afterAll } from 'vitest';
import { type DatabaseParts, openParts } from '../open-database.ts';
import { openCaseBench } from '../testing/open-case-bench.ts';
import { openTestDatabase } from '../testing/open-test-database.ts';

let parts: DatabaseParts | null = null;
const stack = new AsyncDisposableStack();
afterAll(() => stack.disposeAsync());

describeCaseStore(
  'contracts in PostgreSQL',
  async (policy) => {
    parts ??= await openAll(policy);
    return openCaseBench(parts);
  },
  { historyCount: 25, timeoutMs: 115_000 },
);

/** One database for all of it: making one takes longer than most of the tests. */
async function openAll(policy: SettlementPolicy): Promise<DatabaseParts> {
  const database = stack.adopt(await openTestDatabase(), (each) => each.close());
  const newId = createIdSource(randomBytes);
  return stack.adopt(await openParts(database.url, { policy, newId }), (each) => each.close());
}

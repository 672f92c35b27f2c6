import { setTimeout as delay } from 'node:timers/promises';
import { openTestDatabase, type TestDatabase } from '@kervyxa/db/testing';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { checking, commitOf, type HelloCommit } from '../../apps/worker/src/testing/hello.ts';
import { createWorld, type World } from '../../apps/worker/src/testing/world.ts';

let world: World;
/** Another database of the same server, to which it can be said what becomes of the first. */
let beside: TestDatabase;
beforeEach(async () => {
  world = await createWorld();
  beside = await openTestDatabase();
});
afterEach(async () => {
  await world.close();
  await beside.close();
});

const LINE: readonly HelloCommit[] = ['bad', 'cheat', 'bad', 'bad', 'good'];
const PATIENCE = { timeout: 60_000, interval: 100 };

/** Nobody can connect to the database, and whoever was is thrown out. */
async function takeAway(): Promise<() => Promise<void>> {
  const [row] = await world.sql('SELECT current_database() AS name');
  const name = String(row?.['name']);
  const allow = (isAllowed: boolean) =>
    beside.pool.query(`ALTER DATABASE "${name}" ALLOW_CONNECTIONS ${isAllowed}`);
  await allow(false);
  await beside.pool.query(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1',
    [name],
  );
  return async () => void (await allow(true));
}

// Keeps R-WORKER-CRASH.
it('BUG-31 loses database and queue with a line full of submissions: every one is decided afterwards, and once', async () => {
  const worker = { slots: 2, commands: checking() };
  const contractId = await world.openContract();
  const ids: string[] = [];
  for (const commit of LINE) ids.push(await world.submit(contractId, commitOf(commit)));
  world.startWorker(worker);
  await world.submissionIs(ids[0] ?? '', { state: 'FAILED' });
  const giveBack = await takeAway();
  // Whatever was under way has nowhere to go, and both workers find nobody.
  world.startWorker(worker);
  await delay(3_000);
  await giveBack();
  const { reads } = world.database;
  const states = await vi.waitFor(async () => {
    await world.hurry();
    const rows = await Promise.all(ids.map((id) => reads.submission(id)));
    expect(rows.at(-1)?.state).toBe('PASSED');
    return rows.map((row) => row?.state);
  }, PATIENCE);
  expect(states).toEqual(['FAILED', 'FAILED', 'FAILED', 'FAILED', 'PASSED']);
  for (const id of ids) {
    const runs = await reads.listRuns(id);
    expect(runs.map(({ state }) => state)).toEqual(['SEALED']);
  }
  expect(await reads.checkLedger()).toMatchObject({ problem: null });
});

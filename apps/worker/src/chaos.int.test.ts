import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { checking, commitOf, type HelloCommit } from './testing/hello.ts';
import { createWorld, type World } from './testing/world.ts';

const LINE: readonly HelloCommit[] = ['bad', 'cheat', 'bad', 'good', 'bad', 'alsoGood', 'good'];
const CONTRACTS = 3;
/** Longer than anything a run takes here, and every run meets some of them. */
const LIVES = 12;

let world: World;

beforeEach(async () => {
  // Lost workers are the point of it, and no reason to give up.
  world = await createWorld({ runTriesMax: 1_000 });
});

afterEach(() => world.close());

// Keeps R-WORKER-CRASH, R-SETTLE-ORDER.
describe('workers that come and go, and lose their leases at any moment', () => {
  it(
    'decide every submission once, and the earliest that passes wins',
    { timeout: 120_000 },
    async () => {
      const first = world.startWorker({ slots: 2 });
      const lines: { readonly contractId: string; readonly ids: readonly string[] }[] = [];
      for (let count = 0; count < CONTRACTS; count += 1) {
        const contractId = await world.openContract();
        const ids: string[] = [];
        for (const commit of LINE) ids.push(await world.submit(contractId, commitOf(commit)));
        lines.push({ contractId, ids });
      }
      await first.stop();
      for (let life = 0; life < LIVES; life += 1) {
        // Every third life hangs in its runs until it is stopped.
        const commands = life % 3 === 2 ? checking({ good: { hangs: 'until_abort' } }) : checking();
        const worker = world.startWorker({ slots: 2, commands });
        await worker.ready;
        // Where in its work a life ends differs from run to run; what comes of it must not.
        await delay(40 * (life % 5));
        if (life % 2 === 0) await world.endLeases();
        await worker.stop();
      }
      world.startWorker({ slots: 2 });

      const { reads } = world.database;
      for (const { contractId, ids } of lines) {
        await world.contractIs(contractId, { state: 'IN_CHALLENGE' });
        const states = await vi.waitFor(
          async () => {
            const rows = await Promise.all(ids.map((id) => reads.submission(id)));
            const found = rows.map((row) => row?.state);
            expect(found.filter((state) => !END.includes(state ?? ''))).toEqual([]);
            return found;
          },
          { timeout: 60_000, interval: 50 },
        );
        // Whether a bad one behind the winner is looked at depends on who was quicker.
        const [, , , , badBehind, ...rest] = states;
        expect(states.slice(0, 4)).toEqual(['FAILED', 'FAILED', 'FAILED', 'PASSED']);
        expect(['FAILED', 'DEFERRED']).toContain(badBehind);
        expect(rest).toEqual(['DEFERRED', 'DEFERRED']);
        for (const id of ids) {
          const runs = await reads.listRuns(id);
          expect(runs.filter(({ state }) => state === 'SEALED').length).toBeLessThanOrEqual(1);
        }
      }
      expect(await reads.checkLedger()).toMatchObject({ problem: null });
    },
  );
});

const END: readonly string[] = ['FAILED', 'PASSED', 'DEFERRED'];

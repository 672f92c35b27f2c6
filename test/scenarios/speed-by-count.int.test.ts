import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { loadFixture, type Fixture } from '../../fixtures/load.ts';
import { openFixtureWorker, type FixtureWorker } from '../../fixtures/worker.ts';

// Work is counted to the last unit, whatever else the machine has to do.

const RUNS_AT_REST = 8;
const RUNS_UNDER_LOAD = 12;
const BUSY = ['-e', 'for (;;);'];
const { signal } = new AbortController();
const fixture = await loadFixture('speed-by-count');
const busy: ChildProcess[] = [];
let worker: FixtureWorker;

beforeAll(async () => {
  worker = await openFixtureWorker({ fixtures: [fixture], signal });
});
afterAll(() => worker.close());
afterEach(async () => {
  const ended = busy.splice(0).map(async (child) => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  await Promise.all(ended);
});

// Keeps R-FIXTURES.
it('M23 counts the same number in 20 runs, most of them beside processes that never rest', async () => {
  const outcome = fixture.expected.commits['honest-merge'];
  if (outcome === undefined) throw new Error('expected.json lacks honest-merge');
  const atRest = await worker.verify(repeated(RUNS_AT_REST), outcome.sha, { signal });
  for (let core = 0; core < 2 * availableParallelism(); core += 1) {
    busy.push(spawn(process.execPath, BUSY, { stdio: 'ignore' }));
  }
  const underLoad = await worker.verify(repeated(RUNS_UNDER_LOAD), outcome.sha, { signal });
  const counts = [...atRest.criteria, ...underLoad.criteria].map(({ metric }) => metric);
  expect(counts).toEqual(counts.map(() => outcome.metrics['work-public']));
});

/** The fixture with its public count as the only criterion, so many times. */
function repeated(times: number): Fixture {
  const { contract } = fixture;
  const counted = contract.criteria.find(({ id }) => id === 'work-public');
  if (counted === undefined) throw new Error('the contract lacks work-public');
  const criteria = Array.from({ length: times }, (_, run) => ({ ...counted, id: `run-${run}` }));
  return { ...fixture, contract: { ...contract, criteria, proof: [] } };
}

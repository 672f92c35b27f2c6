import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadFixture } from '../../fixtures/load.ts';
import { openFixtureWorker, type FixtureWorker } from '../../fixtures/worker.ts';

// What the fixture's README says of npm ci, shown under a contract that forbids nothing of the kind.

const { signal } = new AbortController();
const fixture = await loadFixture('model-evaluation');
const { contract } = fixture;
const { constraints } = contract;
const lax = {
  ...fixture,
  contract: {
    ...contract,
    constraints: {
      ...constraints,
      editablePaths: [],
      protectedPaths: constraints.protectedPaths.filter((path) => path !== '**/node_modules/'),
    },
  },
};
let worker: FixtureWorker;

beforeAll(async () => {
  worker = await openFixtureWorker({ fixtures: [fixture], signal });
});
afterAll(() => worker.close());

// Keeps R-FIXTURES, R-DEPS-OFFLINE.
it('commits a runtime that prints the best metric: npm ci puts the pinned one in its place', async () => {
  const { sha } = fixture.expected.commits['shadows-the-runtime'] ?? {};
  if (sha === undefined) throw new Error('expected.json has no such commit');
  const { verdict, reasons, criteria } = await worker.verify(lax, sha, { signal });
  // As at the base, whose model is the commit's too.
  expect(reasons.map(({ code, subject }) => [code, subject])).toEqual([
    ['THRESHOLD_NOT_MET', 'macro-f1'],
  ]);
  const base = fixture.expected.commits['prints-the-metric']?.metrics['macro-f1'];
  expect(criteria.find(({ id }) => id === 'macro-f1')?.metric).toBe(base);
  expect(verdict).toBe('FAIL');
});

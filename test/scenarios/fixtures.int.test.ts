import { isOpen } from '@kervyxa/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lintFixture } from '../../fixtures/lint.ts';
import { FIXTURE_NAMES, loadFixture, type Fixture } from '../../fixtures/load.ts';
import type { Outcome } from '../../fixtures/schema.ts';
import { openFixtureWorker, type FixtureWorker } from '../../fixtures/worker.ts';

// Every commit of every fixture, through real git, real containers and the real engine.

/** The memory harness runs V8 at the edge of a small heap, on a machine that may be busy with other things. */
const VERIFY_MS_MAX = 400_000;
/** A contract is judged a dozen times over to prove it. */
const PROVE_MS_MAX = 1_200_000;
/** Enough to see a criterion move; the daemon does more. */
const REPLAYS = 2;
const { signal } = new AbortController();
const fixtures = await Promise.all(FIXTURE_NAMES.map(loadFixture));
const judged = fixtures.filter(({ name }) => name !== 'perf-benchmark');
let worker: FixtureWorker;

beforeAll(async () => {
  worker = await openFixtureWorker({ fixtures: judged, signal });
});
afterAll(() => worker.close());

// Keeps R-FIXTURES.
describe.concurrent.each(judged.map((fixture): [string, Fixture] => [fixture.name, fixture]))(
  '%s',
  (_name, fixture) => {
    const rows = fixture.history.commits.map(({ name, solver, attempt }) => {
      const outcome = fixture.expected.commits[name];
      if (outcome === undefined) throw new Error(`expected.json says nothing about ${name}`);
      return [`${solver} ${attempt}`, String(outcome.verdict), outcome] as const;
    });

    it.each(rows)('%s: %s', { timeout: VERIFY_MS_MAX }, async (_title, _verdict, outcome) => {
      const result = await worker.verify(fixture, outcome.sha, { signal });
      const { verdict, reasons, criteria } = result;
      const metrics = criteria.map(({ id, metric }) => [id, metric] as const);
      expect({
        verdict,
        reasons: reasons.map(({ code, subject }) => ({ code, subject })),
        criteria: Object.fromEntries(criteria.map(({ id, status }) => [id, status])),
        metrics: Object.fromEntries(metrics.filter(([id]) => id in outcome.metrics)),
      }).toEqual(toComparable(outcome));
    });
  },
);

describe('proving', () => {
  it.each(judged.map((fixture): [string, Fixture] => [fixture.name, fixture]))(
    'says of %s what expected.json says',
    { timeout: PROVE_MS_MAX },
    async (_name, fixture) => {
      const report = await worker.prove(fixture, { replays: REPLAYS, signal });
      const findings = report.findings.map(({ code, pointer }) => ({ code, pointer }));
      expect({ isProved: report.isProved, findings }).toEqual(fixture.expected.proving);
    },
  );
});

describe('approval', () => {
  it.each(fixtures.map((fixture): [string, Fixture] => [fixture.name, fixture]))(
    'says of %s what expected.json says',
    async (_name, fixture) => {
      const findings = await lintFixture(fixture);
      expect(findings.map(({ code, pointer }) => ({ code, pointer }))).toEqual(
        fixture.expected.findings,
      );
    },
  );

  it('opens every contract but the one that measures time', async () => {
    const open = [];
    for (const fixture of fixtures) {
      if (!(await lintFixture(fixture)).some(isOpen)) open.push(fixture);
    }
    expect(open).toEqual(judged);
  });
});

function toComparable({ verdict, reasons, criteria, metrics }: Outcome) {
  return { verdict, reasons, criteria, metrics };
}

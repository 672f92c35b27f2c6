import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { type AttackBench, openAttackBench } from './attack-bench.ts';
import { submitPrograms } from './metric-bench.ts';

const MIB = 1024 * 1024;
const SHORT_RUNS_A_COMMIT = 40;
/** `KERVYXA_SHORT_RUNS=500` asks for all of what BUG-36 reports; a container is 0.3 s of everybody's time. */
const SHORT_RUNS = Number(process.env['KERVYXA_SHORT_RUNS'] ?? SHORT_RUNS_A_COMMIT);

let bench: AttackBench;
beforeAll(async () => {
  bench = await openAttackBench();
});
afterEach(() => bench.assertNothingLeft());
afterAll(() => bench.close());

const printing = (outputKB: number) => ({
  contract: ({ environment }: { environment: { outputKB: number } }) => {
    environment.outputKB = outputKB;
  },
});

it('M16 prints an endless line that begins as a metric: FAIL METRIC_MALFORMED, FAIL OUTPUT_LIMIT', async () => {
  const { ends } = await submitPrograms(
    bench,
    {
      long: `printf KERVYXA_METRIC=1; head -c 8000000 /dev/zero | tr '\\0' 0; echo`,
      endless: `printf KERVYXA_METRIC=1; tr '\\0' 0 < /dev/zero`,
    },
    printing(16 * 1_024),
  );
  expect(ends).toEqual({ long: 'fail METRIC_MALFORMED', endless: 'fail OUTPUT_LIMIT' });
});

it('M17 prints a second metric after more than is kept: FAIL METRIC_DUPLICATED; beyond the limit: FAIL OUTPUT_LIMIT', async () => {
  const { ends, result } = await submitPrograms(
    bench,
    {
      // The sandbox keeps the first 64 KiB of a stream.
      within: 'echo KERVYXA_METRIC=1; yes | head -c 12000000; echo KERVYXA_METRIC=2',
      beyond: 'echo KERVYXA_METRIC=1; yes | head -c 20000000; echo KERVYXA_METRIC=2',
    },
    printing(16 * 1_024),
  );
  expect(ends).toEqual({ within: 'fail METRIC_DUPLICATED', beyond: 'fail OUTPUT_LIMIT' });
  expect(JSON.stringify(result).length).toBeLessThan(10_000);
});

it('BUG-33 prints the metric, then 50 MB of noise: PASS where that much may be printed, else FAIL OUTPUT_LIMIT', async () => {
  const programs = { noisy: 'echo KERVYXA_METRIC=42; yes | head -c 50000000' };
  const [roomy, narrow] = [
    await submitPrograms(bench, programs, printing(65_536)),
    await submitPrograms(bench, programs, printing(1_024)),
  ];
  expect([roomy.said, roomy.ends]).toEqual(['PASS', { noisy: 'pass 42' }]);
  expect([narrow.said, narrow.ends]).toEqual(['FAIL OUTPUT_LIMIT', { noisy: 'fail OUTPUT_LIMIT' }]);
});

it('BUG-34 prints for ever, full lines and bare newlines: FAIL OUTPUT_LIMIT, with little memory of ours', async () => {
  const before = process.memoryUsage().rss;
  const { said } = await submitPrograms(
    bench,
    { yes: 'echo KERVYXA_METRIC=1; yes', newlines: `echo KERVYXA_METRIC=1; yes '' & yes '' >&2` },
    printing(65_536),
  );
  expect(said).toBe('FAIL OUTPUT_LIMIT OUTPUT_LIMIT');
  // The stream was scanned and digested, not kept. The bench itself keeps all, as text, while it runs.
  expect(process.memoryUsage().rss - before).toBeLessThan(8 * 64 * MIB);
});

it(`BUG-36 prints a metric without a newline and ends within 5 ms, ${SHORT_RUNS} times (KERVYXA_SHORT_RUNS=500 for all): PASS, ${SHORT_RUNS} metrics`, async () => {
  const metrics: (number | null)[] = [];
  for (let left = SHORT_RUNS; left > 0; left -= SHORT_RUNS_A_COMMIT) {
    const count = Math.min(left, SHORT_RUNS_A_COMMIT);
    const programs = Array.from({ length: count }, (_, run) => [
      `run-${run}`,
      `printf KERVYXA_METRIC=${run}`,
    ]);
    const { said, criteria } = await submitPrograms(bench, Object.fromEntries(programs));
    expect(said).toBe('PASS');
    metrics.push(...criteria.map(({ metric }) => metric));
  }
  expect(metrics).toEqual(
    Array.from({ length: SHORT_RUNS }, (_, run) => run % SHORT_RUNS_A_COMMIT),
  );
});

it('M20 prints the best metric and fails, or runs out of memory: the number counts for nothing: FAIL', async () => {
  const { ends, criteria, said } = await submitPrograms(bench, {
    fails: 'echo KERVYXA_METRIC=1; exit 1',
    crashes: 'echo KERVYXA_METRIC=1; kill -SEGV $$',
    memory: `echo KERVYXA_METRIC=1; exec node -e 'for (const a = []; ; ) a.push(Buffer.alloc(9e6, 1))'`,
  });
  expect(ends).toEqual({
    fails: 'fail EXIT_CODE_MISMATCH',
    crashes: 'fail CRASHED',
    memory: 'fail MEMORY_LIMIT',
  });
  expect(criteria.map(({ metric }) => metric)).toEqual([null, null, null]);
  expect(said).toBe('FAIL EXIT_CODE_MISMATCH CRASHED MEMORY_LIMIT');
});

it('M20 BUG-13 prints the metric and PASS, catches TERM to leave with 0, and hangs: FAIL TIME_LIMIT', async () => {
  const { said, criteria } = await submitPrograms(
    bench,
    { hangs: `trap 'exit 0' TERM; echo KERVYXA_METRIC=1; echo PASS; sleep 300 & wait` },
    { timeoutSeconds: 1 },
  );
  expect(said).toBe('FAIL TIME_LIMIT');
  expect(criteria[0]?.metric).toBeNull();
});

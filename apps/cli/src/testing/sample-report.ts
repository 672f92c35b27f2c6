import type { CriterionResult, ProvingColumn, ProvingReport } from '@kervyxa/verifier';

type Status = CriterionResult['status'];

/** A report for tests: two criteria, of which the second is a hidden benchmark. */
export function reportOf(changes: Partial<ProvingReport> = {}): ProvingReport {
  return {
    schemaVersion: 'kervyxa.proving.v1',
    contractDigest: `sha256:${'c'.repeat(64)}`,
    imageDigest: `sha256:${'1'.repeat(64)}`,
    isProved: true,
    criteria: [
      {
        id: 'tests',
        title: 'The tests pass',
        type: 'exit_code',
        visibility: 'public',
        metric: null,
      },
      {
        id: 'work',
        title: 'Less work',
        type: 'benchmark',
        visibility: 'hidden',
        metric: 'blocks < 100 blocks (node_block_count)',
      },
    ],
    columns: [
      columnOf('base', 'Base commit', ['pass', 'fail'], {}, 120),
      columnOf('good-1', 'Known-good aaaaaaaaaaaa', ['pass', 'pass'], {}, 50),
      columnOf('empty-diff', 'Nothing changed', ['not_run', 'not_run'], { diff: '' }),
    ],
    replays: [
      replaysOf('tests', [null, null, null], [100, 150, 120]),
      replaysOf('work', [50, 50, 50], [1_000, 1_400, 900]),
    ],
    findings: [],
    notes: [],
    ...changes,
  };
}

export function columnOf(
  id: string,
  title: string,
  statuses: readonly Status[],
  changes: Partial<ProvingColumn> = {},
  work: number | null = null,
): ProvingColumn {
  const isGood = statuses.every((status) => status === 'pass');
  return {
    id,
    kind: id === 'base' ? 'base' : isGood ? 'known_good' : 'known_bad',
    title,
    commit: null,
    expected: id === 'base' ? null : isGood ? 'PASS' : 'FAIL',
    verdict: isGood ? 'PASS' : 'FAIL',
    reasons: [],
    criteria: statuses.map((status, at) =>
      at === 0 ? resultOf('tests', status, null) : resultOf('work', status, work),
    ),
    diff: null,
    ...changes,
  };
}

function resultOf(id: string, status: Status, metric: number | null): CriterionResult {
  return {
    id,
    type: 'exit_code',
    visibility: 'public',
    status,
    reason: status === 'fail' ? 'EXIT_CODE_MISMATCH' : null,
    message: null,
    exitCode: null,
    metric,
    peakMemoryBytes: null,
    durationMs: null,
    outputSha256: null,
  };
}

export function replaysOf(
  criterionId: string,
  metrics: readonly (number | null)[],
  timesMs: readonly number[],
): ProvingReport['replays'][number] {
  const [low, high] = [Math.min(...timesMs), Math.max(...timesMs)];
  const middle = timesMs.toSorted((a, b) => a - b)[Math.floor(timesMs.length / 2)] ?? 1;
  const known = metrics.filter((metric) => metric !== null);
  return {
    criterionId,
    runs: metrics.map((metric, at) => ({
      status: 'pass',
      reason: null,
      exitCode: 0,
      metric,
      outputSha256: null,
      durationMs: timesMs[at] ?? 0,
    })),
    metricSpread: known.length === 0 ? null : Math.max(...known) - Math.min(...known),
    tolerance: known.length === 0 ? null : 0,
    durationSpread: (high - low) / middle,
  };
}

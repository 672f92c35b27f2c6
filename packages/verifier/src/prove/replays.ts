import type { Contract, Criterion } from '@kervyxa/contract';
import type { CriterionResult } from '../result.ts';
import type { CriterionReplays, Replay } from './report.ts';

/** Lines up what each criterion gave in each run of one commit. Pure. */
export function toReplays(
  { criteria }: Contract,
  runs: readonly (readonly CriterionResult[])[],
): CriterionReplays[] {
  return criteria.map((criterion, index) => {
    const results = runs.flatMap((run) => run[index] ?? []);
    return {
      criterionId: criterion.id,
      runs: results.map(toReplay),
      metricSpread: spreadOf(results.map(({ metric }) => metric)),
      tolerance: toleranceOf(criterion),
      durationSpread: relativeSpreadOf(results.map(({ durationMs }) => durationMs)),
    };
  });
}

function toReplay(result: CriterionResult): Replay {
  const { status, reason, exitCode, metric, outputSha256, durationMs } = result;
  return { status, reason, exitCode, metric, outputSha256, durationMs };
}

/** A score is part of the result, which is the same each time; nobody declares by how much it may move. */
function toleranceOf(criterion: Criterion): number | null {
  if (criterion.type === 'checker') return 0;
  return criterion.type === 'benchmark' ? criterion.metric.tolerance : null;
}

/** Largest minus smallest; null where any is missing. */
function spreadOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  if (known.length === 0 || known.length < values.length) return null;
  const spread = Math.max(...known) - Math.min(...known);
  // Binary fractions: 0.4 - 0.1 is a little more than 0.3, and would be more than a tolerance of that.
  return Number.isInteger(spread) ? spread : Number(spread.toPrecision(12));
}

/** In parts of the median; null with fewer than two, or where nothing took any time. */
function relativeSpreadOf(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null).toSorted((a, b) => a - b);
  const [low, high] = [known[0], known.at(-1)];
  const middle = known[Math.floor(known.length / 2)];
  if (known.length < 2 || low === undefined || high === undefined || !middle) return null;
  return (high - low) / middle;
}

import type { Contract } from '@kervyxa/contract';
import { meets } from '../grade.ts';

/** As few marker lines as meet every threshold: one that meets several stands for them all. */
export function bestMetrics({ criteria }: Contract): string[] {
  let left = criteria.flatMap((criterion) =>
    criterion.type === 'benchmark' && criterion.source === 'marker' ? [criterion.metric] : [],
  );
  const lines: string[] = [];
  while (left.length > 0) {
    const [best] = left
      .map((metric) => {
        const value = bestValue(metric);
        const missed = left.filter(
          (other) => other !== metric && !meets(value, other.op, other.threshold),
        );
        return { value, missed };
      })
      .toSorted((a, b) => a.missed.length - b.missed.length);
    if (best === undefined) break;
    lines.push(`KERVYXA_METRIC=${best.value}`);
    left = best.missed;
  }
  return lines;
}

/** A plain number that passes; zero, the dream of every optimiser, where it does. */
function bestValue({ op, threshold }: { readonly op: string; readonly threshold: number }): number {
  switch (op) {
    case 'lt':
      return threshold > 0 ? 0 : threshold - 1;
    case 'lte':
      return Math.min(threshold, 0);
    case 'gt':
      return threshold + 1;
    default:
      return threshold;
  }
}

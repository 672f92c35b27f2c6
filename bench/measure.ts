/** One way of doing a thing; answers milliseconds. */
export type Timed = () => Promise<number>;

export interface Sample {
  readonly name: string;
  /** Milliseconds, in the order measured. */
  readonly runsMs: readonly number[];
  readonly medianMs: number;
}

/**
 * Measures several ways side by side: one run of each, then the next round, so that whatever else the machine does
 * hits all alike. The first round warms up and does not count.
 */
export async function measureInterleaved(
  ways: Readonly<Record<string, Timed>>,
  rounds: number,
  onRound: (round: number) => void,
): Promise<Readonly<Record<string, Sample>>> {
  const runs = new Map<string, number[]>(Object.keys(ways).map((name) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    onRound(round);
    for (const [name, run] of Object.entries(ways)) {
      const ms = await run();
      if (round > 0) runs.get(name)?.push(ms);
    }
  }
  return Object.fromEntries(
    [...runs].map(([name, runsMs]) => [name, { name, runsMs, medianMs: median(runsMs) }]),
  );
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [low, high] = [sorted[middle - 1], sorted[middle]];
  if (high === undefined) throw new RangeError('expected at least one value, got none');
  return sorted.length % 2 === 1 || low === undefined ? high : (low + high) / 2;
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}

export interface Ratio {
  readonly id: string;
  readonly title: string;
  readonly ratio: number;
  readonly bound: 'at most' | 'at least';
  /** What the project holds itself to; null where nothing is promised. */
  readonly target: number | null;
}

/** Of costs: the less the better. */
export function ratio(id: string, title: string, value: number, target: number | null): Ratio {
  return { id, title, ratio: rounded(value), bound: 'at most', target };
}

/** Of rates: the more the better. */
export function atLeast(id: string, title: string, value: number, target: number | null): Ratio {
  return { id, title, ratio: rounded(value), bound: 'at least', target };
}

/** What could not be measured is not met. */
export function isMet({ ratio: value, bound, target }: Ratio): boolean {
  if (target === null) return true;
  return bound === 'at most' ? value <= target : value >= target;
}

function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}

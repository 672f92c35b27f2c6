/** One connection of some kind, which does one thing after another. */
export type Lane<T> = (item: T) => Promise<void>;

/** Does all items, each lane the next one as soon as it is free. */
export async function runLanes<T>(lanes: readonly Lane<T>[], items: readonly T[]): Promise<void> {
  const left = items.values();
  await Promise.all(
    lanes.map(async (lane) => {
      for (const item of left) await lane(item);
    }),
  );
}

/** The value that the share `of` of all values does not exceed. */
export function percentile(values: readonly number[], of: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const found = sorted[Math.max(0, Math.ceil(sorted.length * of) - 1)];
  if (found === undefined) throw new RangeError('expected at least one value, got none');
  return found;
}

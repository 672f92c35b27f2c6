/** Time as an argument, so that tests choose it. */
export interface Clock {
  /** Wall-clock time; only for records, never to measure a duration. */
  now(): Date;
  /** Milliseconds of a monotonic clock; only differences mean anything. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
};

/** An inclusive range of a number in a contract. */
export interface Range {
  readonly min: number;
  readonly max: number;
}

/**
 * What a contract may ask for; outside it is LIMIT_OUT_OF_RANGE. docs/contracts.md prints this table. Units are in the names.
 * Node hangs without a word below 12 processes (THREATS C17), hence the floor of `pidsLimit`.
 */
export const LIMIT_RANGES = {
  memoryMB: { min: 64, max: 16_384 },
  cpuCount: { min: 0.25, max: 16 },
  pidsLimit: { min: 64, max: 4_096 },
  workspaceMB: { min: 1, max: 8_192 },
  outputKB: { min: 1, max: 65_536 },
  timeoutSeconds: { min: 1, max: 3_600 },
  maxChangedFiles: { min: 1, max: 10_000 },
  expectedExitCode: { min: 0, max: 255 },
  feeBps: { min: 0, max: 5_000 },
  challengeWindowSeconds: { min: 1, max: 2_592_000 },
  responseWindowSeconds: { min: 1, max: 2_592_000 },
} as const satisfies Record<string, Range>;

/** The shortest window that approval lets pass where the operator says nothing: people need time to object. */
export const WINDOW_SECONDS_MIN = 60;

export type LimitName = keyof typeof LIMIT_RANGES;

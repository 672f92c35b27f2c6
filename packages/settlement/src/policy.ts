/** What the operator decides, the same for every contract. Milliseconds. */
export interface SettlementPolicy {
  /** How long a commit may take to be captured, from the first try, and still have the place of its request. */
  readonly captureGraceMs: number;
  /** How long a HELD submission holds up the settlement of those behind it. */
  readonly heldGraceMs: number;
  /** How long an arbiter has, from the end of the response window. */
  readonly arbitrationMs: number;
  /** Submissions of one contract that may be undecided or deferred at once. */
  readonly lineLengthMax: number;
  /** Submissions of one solver among them. */
  readonly linePerSolverMax: number;
  /** Commits of one solver that may be run for one contract in all: each tells a little of what is hidden. */
  readonly attemptsPerSolverMax: number;
  /** Tries of one run that may end in ERROR before it is HELD. */
  readonly runTriesMax: number;
  /** Challenges of one submission. */
  readonly challengesMax: number;
  readonly rail: 'internal' | 'webhook';
}

export const DEFAULT_POLICY: SettlementPolicy = {
  captureGraceMs: 600_000,
  heldGraceMs: 259_200_000,
  arbitrationMs: 604_800_000,
  lineLengthMax: 1_000,
  linePerSolverMax: 20,
  attemptsPerSolverMax: 100,
  runTriesMax: 3,
  challengesMax: 50,
  rail: 'internal',
};

import type { InfraReason, SealedVerdict } from '@kervyxa/core';

export const CONTRACT_STATES = [
  'DRAFT',
  'PROVED',
  'OPEN',
  'IN_CHALLENGE',
  'SETTLED',
  'EXPIRED',
  'CANCELLED',
] as const;
export type ContractState = (typeof CONTRACT_STATES)[number];

/**
 * RECEIVED: not captured yet. VERIFIED: its verdict is sealed and waits for those before it in line. PASSED: holds the
 * pass, its challenge window runs. DEFERRED: another holds the pass. The last five are ends; INCONCLUSIVE and HELD can
 * be tried again by the operator, and keep their place in line.
 */
export const SUBMISSION_STATES = [
  'RECEIVED',
  'QUEUED',
  'RUNNING',
  'VERIFIED',
  'HELD',
  'PASSED',
  'DEFERRED',
  'FAILED',
  'INCONCLUSIVE',
  'OVERTURNED',
  'PAID',
  'SUPERSEDED',
] as const;
export type SubmissionState = (typeof SUBMISSION_STATES)[number];

/** ABANDONED: nobody wants its result any more. HELD: its tries are used up. */
export const RUN_STATES = ['QUEUED', 'RUNNING', 'SEALED', 'ABANDONED', 'HELD'] as const;
export type RunState = (typeof RUN_STATES)[number];

export const RUN_PURPOSES = ['VERIFY', 'RERUN'] as const;
export type RunPurpose = (typeof RUN_PURPOSES)[number];

export const CHALLENGE_KINDS = ['OVERTURN_PASS', 'RERUN_VERIFICATION', 'UPHOLD_PASS'] as const;
export type ChallengeKind = (typeof CHALLENGE_KINDS)[number];

/**
 * RERUNNING and AWAITING_ARBITER are open and block settlement. NOTED: an UPHOLD_PASS, which is an answer and asks for
 * nothing. LAPSED: the arbiter's time ran out, so the machine's verdict stands. VOIDED: the submission lost the pass in
 * another way. Bonds go back in all ends but UPHELD.
 */
export const CHALLENGE_STATES = [
  'RERUNNING',
  'AWAITING_ARBITER',
  'NOTED',
  'UPHELD',
  'OVERTURNED',
  'LAPSED',
  'VOIDED',
] as const;
export type ChallengeState = (typeof CHALLENGE_STATES)[number];

export interface ContractFacts {
  readonly id: string;
  readonly requesterId: string;
  readonly state: ContractState;
  readonly closesAt: Date;
  readonly rewardMinor: bigint;
  readonly currency: string;
  readonly feeBps: number;
  readonly challengeWindowMs: number;
  readonly responseWindowMs: number;
  readonly challengeBondMinor: bigint;
}

export interface RunCase {
  readonly id: string;
  readonly submissionId: string;
  readonly purpose: RunPurpose;
  readonly state: RunState;
  /** Fencing token: grows with every start. A result of an older attempt changes nothing. */
  readonly attempt: number;
  /** Attempts that ended in ERROR or were lost; a drained worker's are not counted. */
  readonly tries: number;
  /** Why the last of those attempts ended; null before the first. */
  readonly lastFailure: InfraReason | null;
  readonly verdict: SealedVerdict | null;
}

export interface SubmissionCase {
  readonly id: string;
  readonly solverId: string;
  /** The place in line: order of receipt. The store gives a new submission its own, whatever the decision says. */
  readonly seq: bigint;
  readonly state: SubmissionState;
  /**
   * A commit not captured by then ends INCONCLUSIVE. Null until a worker looks for it for the first time: workers that
   * are busy or down cost nobody the place.
   */
  readonly captureBy: Date | null;
  readonly captured: boolean;
  /** When a HELD submission stops holding up the settlement of others, and ends INCONCLUSIVE. */
  readonly heldUntil: Date | null;
  /** Half-open: challenge before `closesAt`, settle at or after it. Null where it never held the pass. */
  readonly window: { readonly opensAt: Date; readonly closesAt: Date } | null;
  readonly verdict: SealedVerdict | null;
}

export interface ChallengeCase {
  readonly id: string;
  readonly submissionId: string;
  readonly challengerId: string;
  readonly kind: ChallengeKind;
  readonly state: ChallengeState;
  /** Zero for UPHOLD_PASS, which needs no bond. */
  readonly bondMinor: bigint;
  /** The arbiter decides at or after it, or once the solver has answered. */
  readonly respondBy: Date;
  /** From then on the machine's verdict stands. */
  readonly decideBy: Date;
  /** The runs that answer it, in order; several challenges may share one. */
  readonly runIds: readonly string[];
  /** An arbiter may order one rerun for each challenge. */
  readonly rerunOrdered: boolean;
}

/**
 * All that decides about one contract's money, read under its lock: the contract; its submissions that are not at an
 * end, and the one that the command is about whatever its state, in order of receipt; all their runs, in order of
 * creation; all their challenges, ended ones too, in order of filing. Ended submissions have no bound, so that they are
 * left out, also those that the operator may try again.
 */
export interface ContractCase {
  readonly contract: ContractFacts;
  readonly submissions: readonly SubmissionCase[];
  readonly runs: readonly RunCase[];
  readonly challenges: readonly ChallengeCase[];
}

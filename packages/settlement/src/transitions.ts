import type { ChallengeState, ContractState, RunState, SubmissionState } from './case.ts';

/** From each state, the states that may follow. What is not here never happens. */
export type Transitions<State extends string> = Readonly<Record<State, readonly State[]>>;

export const CONTRACT_TRANSITIONS: Transitions<ContractState> = {
  DRAFT: ['PROVED', 'EXPIRED', 'CANCELLED'],
  // To DRAFT: its document is edited.
  PROVED: ['DRAFT', 'OPEN', 'EXPIRED', 'CANCELLED'],
  OPEN: ['IN_CHALLENGE', 'EXPIRED', 'CANCELLED'],
  IN_CHALLENGE: ['OPEN', 'SETTLED'],
  SETTLED: [],
  EXPIRED: [],
  CANCELLED: [],
};

export const SUBMISSION_TRANSITIONS: Transitions<SubmissionState> = {
  RECEIVED: ['QUEUED', 'DEFERRED', 'VERIFIED', 'INCONCLUSIVE', 'SUPERSEDED'],
  QUEUED: ['RUNNING', 'DEFERRED'],
  RUNNING: ['QUEUED', 'VERIFIED', 'HELD', 'DEFERRED'],
  VERIFIED: ['PASSED', 'FAILED', 'INCONCLUSIVE', 'DEFERRED'],
  HELD: ['QUEUED', 'DEFERRED', 'INCONCLUSIVE', 'SUPERSEDED'],
  PASSED: ['DEFERRED', 'OVERTURNED', 'PAID'],
  DEFERRED: ['QUEUED', 'RUNNING', 'PASSED', 'FAILED', 'INCONCLUSIVE', 'SUPERSEDED'],
  FAILED: [],
  INCONCLUSIVE: ['RECEIVED', 'QUEUED', 'DEFERRED'],
  OVERTURNED: [],
  PAID: [],
  SUPERSEDED: [],
};

export const RUN_TRANSITIONS: Transitions<RunState> = {
  QUEUED: ['RUNNING', 'ABANDONED'],
  // To itself: an attempt was lost and another begins.
  RUNNING: ['RUNNING', 'QUEUED', 'SEALED', 'ABANDONED', 'HELD'],
  SEALED: [],
  ABANDONED: [],
  HELD: [],
};

export const CHALLENGE_TRANSITIONS: Transitions<ChallengeState> = {
  RERUNNING: ['AWAITING_ARBITER', 'UPHELD', 'OVERTURNED', 'VOIDED'],
  AWAITING_ARBITER: ['RERUNNING', 'UPHELD', 'OVERTURNED', 'LAPSED', 'VOIDED'],
  NOTED: [],
  UPHELD: [],
  OVERTURNED: [],
  LAPSED: [],
  VOIDED: [],
};

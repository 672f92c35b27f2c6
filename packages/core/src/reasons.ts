import { z } from 'zod';

/** The solver's reasons, policy first, in the order in which they are reported. */
export const SOLVER_REASONS = [
  'NOT_A_DESCENDANT',
  'EMPTY_DIFF',
  'UNSAFE_PATH',
  'SUBMODULE_CHANGED',
  'PROTECTED_PATH_CHANGED',
  'TOO_MANY_CHANGED_FILES',
  'LANGUAGE_NOT_ALLOWED',
  'CLAIM_MISSING',
  'SOURCE_TOO_LARGE',
  'LFS_POINTER',
  'SETUP_FAILED',
  'EXIT_CODE_MISMATCH',
  'ASSERTION_FAILED',
  'METRIC_MISSING',
  'METRIC_DUPLICATED',
  'METRIC_MALFORMED',
  'THRESHOLD_NOT_MET',
  'TIME_LIMIT',
  'MEMORY_LIMIT',
  'PIDS_LIMIT',
  'OUTPUT_LIMIT',
  'DISK_LIMIT',
  'CRASHED',
  'REFUTED',
] as const;

/** The commit could not be had or judged; tried again a bounded number of times. */
export const SOURCE_REASONS = [
  'REPOSITORY_UNREACHABLE',
  'COMMIT_NOT_FOUND',
  'ANCESTRY_UNKNOWN',
] as const;

/** The contract can't be decided. No solver can cause it, but for VERIFIER_BROKEN: by what is submitted (ADR 0030, 0040). */
export const CONTRACT_REASONS = [
  'COMMAND_NOT_FOUND',
  'SETUP_FAILED_AT_BASE',
  'VERIFIER_BROKEN',
  'STAGE_UNAVAILABLE',
] as const;

/**
 * A checker package could not be asked, or did not decide, about what was submitted: neither verified nor refuted. No
 * money, and nobody waits for it.
 */
export const CHECK_REASONS = ['REQUIREMENTS_UNMET', 'CHECK_INCONCLUSIVE'] as const;

/** Our own trouble: retried, then held for the operator. */
export const INFRA_REASONS = [
  'ENGINE_UNAVAILABLE',
  'IMAGE_UNAVAILABLE',
  'WORKER_LOST',
  'HOST_DISK_FULL',
  'INPUTS_CHANGED',
  'INTERNAL',
] as const;

export const REASON_CODES = [
  ...SOLVER_REASONS,
  ...SOURCE_REASONS,
  ...CONTRACT_REASONS,
  ...CHECK_REASONS,
  ...INFRA_REASONS,
] as const;

export const ReasonCodeSchema = z.enum(REASON_CODES);
export type ReasonCode = z.infer<typeof ReasonCodeSchema>;
export type SolverReason = (typeof SOLVER_REASONS)[number];
export type SourceReason = (typeof SOURCE_REASONS)[number];
export type ContractReason = (typeof CONTRACT_REASONS)[number];
export type CheckReason = (typeof CHECK_REASONS)[number];
export type InfraReason = (typeof INFRA_REASONS)[number];

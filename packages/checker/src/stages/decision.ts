import type { AppError } from '@kervyxa/core';
import type { CheckCase } from './check-case.ts';
import type { ProblemCase } from './problem-case.ts';

/** For the record and the watchers: small facts only. */
export interface StageEvent {
  readonly kind: 'event';
  readonly name: string;
  readonly data: Readonly<Record<string, string | number | boolean | null>>;
}

/** What a store does in the same transaction besides saving the next case. */
export type CheckEffect =
  | StageEvent
  /** A worker is to run the current sandbox stage; `delayMs` is the back-off before another try. */
  | { readonly kind: 'enqueue_check'; readonly checkId: string; readonly delayMs: number }
  /** No command changes it any more: its record can be written. */
  | { readonly kind: 'check_ended'; readonly checkId: string };

export type ProblemEffect =
  | StageEvent
  /** The entry is in: a check of it begins, by `openCheck`. */
  | { readonly kind: 'open_check'; readonly entryId: string; readonly solverId: string };

type Decided<Case, Effect> =
  | { readonly kind: 'accepted'; readonly next: Case; readonly effects: readonly Effect[] }
  /** Nothing changes. */
  | { readonly kind: 'refused'; readonly error: AppError };

export type CheckDecision = Decided<CheckCase, CheckEffect>;
export type ProblemDecision = Decided<ProblemCase, ProblemEffect>;

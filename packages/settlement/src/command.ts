import type { InfraReason, SealedVerdict } from '@kervyxa/core';
import type { ChallengeKind } from './case.ts';

/** What somebody wants of a contract. The caller's right to ask (role, ownership) is checked before; conflicts here. */
export type Command =
  /** The approval found nothing that refuses: DRAFT → PROVED. */
  | { readonly kind: 'prove' }
  /** The document is changed: whatever was proved of it before counts no more. */
  | { readonly kind: 'revise' }
  | { readonly kind: 'fund' }
  | { readonly kind: 'cancel' }
  | { readonly kind: 'submit'; readonly submissionId: string; readonly solverId: string }
  /** A worker looks for the commit. With the first time, the time in which it must be had begins. */
  | { readonly kind: 'try_capture'; readonly submissionId: string }
  /** The commit is captured: the submission takes its place in line. */
  | { readonly kind: 'capture'; readonly submissionId: string }
  /** The source could not be had in bounded tries, or the commit itself is refused before any run. */
  | {
      readonly kind: 'refuse_capture';
      readonly submissionId: string;
      readonly verdict: SealedVerdict;
    }
  /** A worker begins a run. Accepted with the new attempt, or refused where nobody wants its result. */
  | { readonly kind: 'start'; readonly runId: string }
  | {
      readonly kind: 'seal';
      readonly runId: string;
      readonly attempt: number;
      readonly verdict: SealedVerdict;
    }
  /** The attempt ended in ERROR, trouble of ours: another try, or HELD. */
  | {
      readonly kind: 'fail';
      readonly runId: string;
      readonly attempt: number;
      readonly reason: InfraReason;
    }
  /** A draining worker gives the run back; no try is counted. */
  | { readonly kind: 'release'; readonly runId: string; readonly attempt: number }
  /** The operator has a HELD or INCONCLUSIVE submission tried again. */
  | { readonly kind: 'retry'; readonly submissionId: string }
  | {
      readonly kind: 'challenge';
      readonly challengeId: string;
      readonly submissionId: string;
      readonly challengerId: string;
      readonly challenge: ChallengeKind;
    }
  | {
      readonly kind: 'resolve';
      readonly challengeId: string;
      readonly arbiterId: string;
      readonly decision: ChallengeKind;
    }
  /** Whatever time alone brings: captures, holds and arbitration that ran out, settlement, expiry. Harmless if early. */
  | { readonly kind: 'advance' };
export type CommandKind = Command['kind'];

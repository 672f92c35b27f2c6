import type { InfraReason } from '@kervyxa/core';
import type { StageEnd } from '../run/stage-end.ts';
import type { Judgment, ProgramRef, StageOutcome } from './check-case.ts';

/** Somebody who wants to judge. */
export interface Judge {
  readonly id: string;
  readonly roles: readonly string[];
  /** Who brought them in, where somebody did. */
  readonly invitedBy: string | null;
}

/** What a system outside says of an entry. */
export interface ExternalReport {
  /** Its own judgment: decides a partner's stage, and is only a finding in a contract's. */
  readonly result: StageOutcome | null;
  readonly statement: string | null;
  /** A JSON value. */
  readonly evidence: unknown;
}

/** Who brought a report: a system that signed it with a registered key, or the operator. */
export type Reporter =
  | { readonly kind: 'signature'; readonly system: string; readonly key: string }
  | ({ readonly kind: 'operator' } & Pick<Judge, 'id' | 'invitedBy'>);

/** What somebody wants of a check. The caller's right to ask (role) is checked before; conflicts here. */
export type CheckCommand =
  /** A worker begins the sandbox stage; accepted with the new attempt. */
  | { readonly kind: 'start' }
  | {
      readonly kind: 'seal';
      readonly attempt: number;
      readonly end: StageEnd;
      readonly program: ProgramRef;
    }
  /** Nothing can run the stage here; `mechanism` says what is missing. */
  | { readonly kind: 'unavailable'; readonly attempt: number; readonly mechanism: string }
  /** Trouble of ours: another try, or HELD. */
  | { readonly kind: 'fail'; readonly attempt: number; readonly reason: InfraReason }
  /** A draining worker gives the stage back; no try is counted. */
  | { readonly kind: 'release'; readonly attempt: number }
  /** The operator has a HELD check tried again. */
  | { readonly kind: 'retry' }
  | {
      readonly kind: 'claim';
      readonly seatId: string;
      readonly node: string;
      readonly judge: Judge;
    }
  | { readonly kind: 'release_seat'; readonly seatId: string; readonly judgeId: string }
  | {
      readonly kind: 'judge';
      readonly seatId: string;
      readonly judge: Judge;
      readonly judgment: Judgment;
      readonly statement: string;
    }
  | {
      readonly kind: 'report';
      readonly stage: string;
      readonly report: ExternalReport;
      readonly reporter: Reporter;
      /** Why the evidence breaks the stage's schema, or null. */
      readonly evidenceProblem: string | null;
    }
  /** Whatever time alone brings: expired seats, deadlines, holds that ran out. Harmless if early. */
  | { readonly kind: 'advance' };

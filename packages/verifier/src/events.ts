import type { OutputStream } from '@kervyxa/sandbox';
import type { ReasonCode } from '@kervyxa/core';

/** The steps of a verification in order; `setup` comes once a set-up command, `criterion` once a criterion. */
export type StepKind = 'fetch' | 'policy' | 'image' | 'workspace' | 'setup' | 'criterion';

export interface Step {
  /** Unique in the run: `fetch`, `setup:0`, `criterion:tests-pass`, … */
  readonly id: string;
  readonly kind: StepKind;
  readonly title: string;
}

/** What happened, as it happens, for progress lines and log files. Hidden criteria are reported too: the reader filters. */
export type VerificationEvent =
  | { readonly kind: 'step_started'; readonly step: Step }
  | {
      readonly kind: 'step_finished';
      readonly step: Step;
      readonly status: 'pass' | 'fail' | 'inconclusive' | 'error';
      readonly reason: ReasonCode | null;
      readonly message: string | null;
      readonly durationMs: number;
    }
  /** `stepId` names the step whose command printed it. A second try of a criterion has the same id and `attempt` 2. */
  | {
      readonly kind: 'output';
      readonly stepId: string;
      readonly attempt: number;
      readonly stream: OutputStream;
      readonly chunk: Uint8Array;
    };

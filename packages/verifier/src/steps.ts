import type { Clock } from '@kervyxa/core';
import type { Step, VerificationEvent } from './events.ts';
import type { Reason } from './result.ts';

export type StepStatus = Extract<VerificationEvent, { kind: 'step_finished' }>['status'];

/** Ends the step; a second call says nothing. */
export type FinishStep = (status: StepStatus, reason?: Pick<Reason, 'code' | 'message'>) => void;

export interface StepLog {
  /** Starts a step, or finds it started already (by id): a second start says nothing. */
  start(step: Step): FinishStep;
  /** Ends every step that is still open: something of ours broke while they ran. */
  abandon(reason: Pick<Reason, 'code' | 'message'>): void;
}

/** Reports each step once when it starts and once when it ends, however often its parts are tried. */
export function createStepLog(clock: Clock, onEvent: (event: VerificationEvent) => void): StepLog {
  const finishers = new Map<string, FinishStep>();
  return {
    start: (step) => {
      const known = finishers.get(step.id);
      if (known !== undefined) return known;
      const startedMs = clock.monotonicMs();
      let isOpen = true;
      const finish: FinishStep = (status, reason) => {
        if (!isOpen) return;
        isOpen = false;
        const durationMs = clock.monotonicMs() - startedMs;
        const why = { reason: reason?.code ?? null, message: reason?.message ?? null };
        onEvent({ kind: 'step_finished', step, status, ...why, durationMs });
      };
      finishers.set(step.id, finish);
      onEvent({ kind: 'step_started', step });
      return finish;
    },
    abandon: (reason) => finishers.forEach((finish) => finish('error', reason)),
  };
}

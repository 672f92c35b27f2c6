import type { Contract, Criterion } from '@kervyxa/contract';
import type { Step, VerificationEvent } from './events.ts';
import { gradeSetup, isCommandNotFound, isLate } from './grade.ts';
import type { CriterionResult } from './result.ts';
import type { CheckerListener } from './run-checkers.ts';
import type { StepLog } from './steps.ts';
import type { CriterionEnd, TrialListener } from './trial.ts';

/** Turns what happens in the trials of one verification into steps: each starts once and ends once. */
export interface Progress {
  /** For the next trial of the commit; `isLast` where a set-up that is late is not tried again. */
  readonly listen: (attempt: { readonly isLast: boolean }) => TrialListener;
  /** For criteria that no trial runs. */
  readonly checkers: CheckerListener;
  /** Ends the steps of all criteria with what came out in the end. */
  finish(criteria: readonly CriterionResult[]): void;
}

export function createProgress(
  { log, onEvent }: { readonly log: StepLog; readonly onEvent: (event: VerificationEvent) => void },
  contract: Contract,
  grade: (criterion: Criterion, end: CriterionEnd) => CriterionResult,
): Progress {
  const finishCriterion = (result: CriterionResult): void => {
    const criterion = contract.criteria.find(({ id }) => id === result.id);
    if (criterion === undefined || result.status === 'not_run') return;
    const { reason, message } = result;
    const finish = log.start(toCriterionStep(criterion));
    finish(result.status, reason === null ? undefined : { code: reason, message: message ?? '' });
  };
  let attempts = 0;
  return {
    checkers: {
      onStart: (criterion) => log.start(toCriterionStep(criterion)),
      onEnd: finishCriterion,
    },
    listen: ({ isLast }) => {
      attempts += 1;
      const attempt = attempts;
      const finishWorkspace = log.start({
        id: 'workspace',
        kind: 'workspace',
        title: 'Prepare the workspace',
      });
      return {
        onSessionOpen: () => finishWorkspace('pass'),
        onSetupStart: (index) => log.start(toSetupStep(contract, index)),
        onSetupEnd: (index, outcome) => {
          if (outcome.timedOut && !isLast) return;
          const { status, reason, message } = gradeSetup(contract, index, outcome);
          const finish = log.start(toSetupStep(contract, index));
          finish(status, reason === null ? undefined : { code: reason, message: message ?? '' });
        },
        onCriterionStart: (criterion) => log.start(toCriterionStep(criterion)),
        onCriterionEnd: (criterion, end) => {
          if (!needsAnotherLook(criterion, end)) finishCriterion(grade(criterion, end));
        },
        onOutput: (stepId, stream, chunk) =>
          onEvent({ kind: 'output', stepId, attempt, stream, chunk }),
      };
    },
    finish: (criteria) => criteria.forEach(finishCriterion),
  };
}

/** A late run may have a second, and a command that was not found is tried at the base commit. */
function needsAnotherLook(criterion: Criterion, end: CriterionEnd): boolean {
  if (end.kind !== 'ran') return false;
  const { evidence } = end;
  return isLate(evidence) || isCommandNotFound(criterion, evidence.outcome);
}

function toSetupStep({ environment }: Contract, index: number): Step {
  return { id: `setup:${index}`, kind: 'setup', title: environment.setup[index]?.command ?? '' };
}

function toCriterionStep({ id, title }: Criterion): Step {
  return { id: `criterion:${id}`, kind: 'criterion', title };
}

import type { ContractTerms } from '../contract/schema.ts';
import type { CheckCase, CheckStage } from './check-case.ts';
import type { CheckCommand } from './check-command.ts';
import type { CheckDecision } from './decision.ts';
import type { StagePolicy } from './policy.ts';
import type { ProblemCase } from './problem-case.ts';
import type { ReviewProtocol } from './review-protocol.ts';

export interface CheckContext {
  /** The database's time, read under the check's lock. */
  readonly now: Date;
  readonly policy: StagePolicy;
  /** The check's problem, read in the same transaction. */
  readonly problem: ProblemCase;
}

/** What decides about each stage of a contract; `protocols` are those published here, by id. */
export function planStages(
  terms: Pick<ContractTerms, 'stages' | 'reference_inputs' | 'result_kind'>,
  protocols: ReadonlyMap<string, ReviewProtocol>,
): readonly CheckStage[] {
  throw new Error(`not yet: ${terms.stages.length} ${protocols.size}`);
}

/** A check of an entry begins. */
export function openCheck(
  facts: Pick<CheckCase, 'id' | 'entryId' | 'solverId'> & {
    readonly stages: readonly CheckStage[];
  },
  context: CheckContext,
): CheckDecision {
  throw new Error(`not yet: ${facts.id} ${context.now.toISOString()}`);
}

/** Decides what a command does to a check, and does nothing itself. */
export function decideCheck(
  held: CheckCase,
  command: CheckCommand,
  context: CheckContext,
): CheckDecision {
  throw new Error(`not yet: ${held.id} ${command.kind} ${context.now.toISOString()}`);
}

/** When `advance` does something next; null where only somebody's command can. */
export function nextDueOfCheck(held: CheckCase): Date | null {
  throw new Error(`not yet: ${held.id}`);
}

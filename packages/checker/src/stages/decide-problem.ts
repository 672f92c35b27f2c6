import type { ContractTerms } from '../contract/schema.ts';
import type { ProblemDecision } from './decision.ts';
import type { StagePolicy } from './policy.ts';
import type { ProblemCase } from './problem-case.ts';
import type { ProblemCommand } from './problem-command.ts';

export interface ProblemContext {
  /** The database's time, read under the problem's lock. */
  readonly now: Date;
  readonly policy: StagePolicy;
}

/** A problem begins as a DRAFT. */
export function draftProblem(
  facts: Pick<ProblemCase, 'id' | 'ownerId' | 'contractId' | 'sealing' | 'invited'> & {
    readonly terms: Pick<ContractTerms, 'reference_inputs'>;
    /** The contract's. */
    readonly yankedAt: Date | null;
  },
  context: ProblemContext,
): ProblemDecision {
  throw new Error(`not yet: ${facts.id} ${context.now.toISOString()}`);
}

/** Decides what a command does to a problem, and does nothing itself. Time alone changes nothing in a problem. */
export function decideProblem(
  held: ProblemCase,
  command: ProblemCommand,
  context: ProblemContext,
): ProblemDecision {
  throw new Error(`not yet: ${held.id} ${command.kind} ${context.now.toISOString()}`);
}

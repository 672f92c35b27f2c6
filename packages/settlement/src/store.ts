import type { Command } from './command.ts';
import type { Decision } from './decision.ts';

/**
 * Contracts and their money, one transaction a command: the contract's row is locked first, then the time is read from
 * the database's clock, then `decide` decides, then everything it says is stored, or nothing.
 *
 * Any number of calls may run side by side, from any number of processes. A refused command changes nothing. A call
 * that throws has changed nothing, unless the connection was lost while committing; repeat it then.
 */
export interface CaseStore {
  /**
   * Besides what `decide` refuses, refused with SETTLEMENT_FUNDS_INSUFFICIENT where an account would be overdrawn.
   * Throws SETTLEMENT_CONTRACT_UNKNOWN.
   */
  execute(contractId: string, command: Command): Promise<Decision>;
  /** Contracts for which `advance` would do something now, those that wait longest first. */
  listDue(limit: number): Promise<readonly string[]>;
}

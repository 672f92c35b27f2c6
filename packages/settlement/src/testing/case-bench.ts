import type { IdSource } from '@kervyxa/core';
import type { ContractCase } from '../case.ts';
import type { Decision } from '../decision.ts';
import type { Balance } from '../ledger/balances.ts';
import type { SettlementPolicy } from '../policy.ts';
import type { CaseStore } from '../store.ts';

export const CURRENCY = 'USD';

/** What a contract is made with. Whole seconds, in milliseconds. */
export interface ContractTerms {
  readonly requesterId: string;
  readonly closesInMs: number;
  readonly rewardMinor: bigint;
  readonly feeBps: number;
  readonly bondMinor: bigint;
  readonly challengeWindowMs: number;
  readonly responseWindowMs: number;
}

/** A store to test, and what tests do beside it. Amounts are in `CURRENCY`. */
export interface CaseBench {
  readonly store: CaseStore;
  readonly newId: IdSource;
  /** The id of somebody new, who has money only by `deposit`. */
  addPrincipal(): Promise<string>;
  deposit(principalId: string, amountMinor: bigint): Promise<void>;
  /** A new contract in DRAFT. */
  seedContract(terms: ContractTerms): Promise<string>;
  /** The `submit` command, with a commit of its own. */
  submit(contractId: string, submissionId: string, solverId: string): Promise<Decision>;
  /** Lets time pass, or moves all that is due nearer by as much. */
  elapse(ms: number): Promise<void>;
  now(): Promise<Date>;
  /** With all that has ended, too. */
  readCase(contractId: string): Promise<ContractCase>;
  /** Every account. */
  trialBalance(): Promise<readonly Balance[]>;
  /** The first problem of the ledger's chain, or null. */
  checkLedger(): Promise<string | null>;
  close(): Promise<void>;
}

/**
 * Opens a bench. What earlier benches left may still be in it, as long as all accounts and contracts are told of, and the
 * treasury is theirs together.
 */
export type OpenCaseBench = (policy: SettlementPolicy) => Promise<CaseBench>;

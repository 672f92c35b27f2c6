// The public surface: adding a line here makes a name public.
export {
  CHALLENGE_KINDS,
  CHALLENGE_STATES,
  CONTRACT_STATES,
  RUN_PURPOSES,
  RUN_STATES,
  SUBMISSION_STATES,
} from './case.ts';
export type {
  ChallengeCase,
  ChallengeKind,
  ChallengeState,
  ContractCase,
  ContractFacts,
  ContractState,
  RunCase,
  RunPurpose,
  RunState,
  SubmissionCase,
  SubmissionState,
} from './case.ts';
export type { Command, CommandKind } from './command.ts';
export type { Decision, Effect } from './decision.ts';
export { createStateRefused } from './commands/contract.ts';
export { refuseSubmit } from './commands/capture.ts';
export type { SubmitFacts } from './commands/capture.ts';
export { decide } from './decide.ts';
export type { DecideContext } from './draft.ts';
export { nextDueAt } from './due.ts';
export { createSettlementError, SETTLEMENT_ERRORS } from './errors.ts';
export type { SettlementErrorCode } from './errors.ts';
export type { CaseStore } from './store.ts';
export { DEFAULT_POLICY } from './policy.ts';
export type { SettlementPolicy } from './policy.ts';
export {
  CHALLENGE_TRANSITIONS,
  CONTRACT_TRANSITIONS,
  RUN_TRANSITIONS,
  SUBMISSION_TRANSITIONS,
} from './transitions.ts';
export type { Transitions } from './transitions.ts';
export {
  available,
  bond,
  escrow,
  mayOverdraw,
  outsideDeposits,
  outsidePayouts,
  payable,
  treasury,
} from './ledger/accounts.ts';
export { toBalances } from './ledger/balances.ts';
export type { Balance } from './ledger/balances.ts';
export { CHAIN_START, checkChain, inputHashOf, linkTransfer } from './ledger/chain.ts';
export type { ChainHead } from './ledger/chain.ts';
export { assertTransfer } from './ledger/check-transfer.ts';
export { createLedgerFull } from './ledger/errors.ts';
export {
  feeOf,
  planBond,
  planBondForfeit,
  planBondReturn,
  planDeposit,
  planEscrowFunding,
  planPayout,
  planPayoutConfirmed,
  planRefund,
} from './ledger/plans.ts';
export type { PlannedTransfer, Posting, RecordedTransfer } from './ledger/transfer.ts';

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
export type { CaseStore } from './store.ts';
export { DEFAULT_POLICY } from './policy.ts';
export type { SettlementPolicy } from './policy.ts';
export type { PlannedTransfer, Posting, RecordedTransfer } from './ledger/transfer.ts';

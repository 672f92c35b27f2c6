// The public surface: adding a line here makes a name public.
export { toContractDraft } from './contract-draft.ts';
export { openDatabase } from './open-database.ts';
export type { DatabaseOptions } from './open-database.ts';
export { migrateDatabase } from './migrate/migrate-database.ts';
export { DB_ERRORS } from './errors.ts';
export { IMPLEMENTATION_STATES } from './checker-rows.ts';
export type {
  AskedOfProblem,
  CheckerCommands,
  CheckerReads,
  Checkers,
  CheckerWork,
  CheckTask,
} from './checker-ports.ts';
export type {
  ArtifactRow,
  CheckRow,
  EntryRow,
  ImplementationRow,
  ImplementationState,
  PartnerKeyRow,
  ProblemItem,
  ProblemRow,
  Publication,
  PublishedContractRow,
  VerifierRow,
} from './checker-rows.ts';
export { AUDIT_KINDS } from './audit/chain.ts';
export type { AuditEntry, AuditHead, AuditKind } from './audit/chain.ts';
export { PAYOUT_STATES, QUEUES, ROLES } from './ports.ts';
export type {
  Answer,
  Audience,
  Call,
  ChallengeRow,
  Commands,
  ContractDraft,
  ContractListRow,
  ContractRow,
  CriterionLog,
  Database,
  EventRow,
  EvidenceRow,
  LeasedJob,
  Page,
  PageRequest,
  PayoutRow,
  PayoutState,
  PayoutStore,
  PackageRow,
  PrincipalRow,
  Queue,
  QueueName,
  Reads,
  Role,
  RunListRow,
  RunRow,
  SealedEvidence,
  SigningKeyRow,
  SubmissionRow,
  SubmittedRow,
  TransferRow,
  Upkeep,
  WorkerStore,
} from './ports.ts';

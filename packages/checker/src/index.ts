export { CHECKER_ERRORS } from './errors.ts';
export type { CheckerErrorCode } from './errors.ts';
export type { CheckDeps, CheckGate } from './run/check-deps.ts';
export { walkStages } from './run/walk-stages.ts';
export type {
  StageProblem,
  StageReport,
  WalkListener,
  WalkReport,
  WalkRequest,
} from './run/walk-stages.ts';
export { createConformance } from './run/conformance.ts';
export type { Conformance, ConformanceListener, ConformanceReport } from './run/conformance.ts';
export type { FixtureReport } from './run/run-fixture.ts';
export { checkAgainstSchema } from './thread/check-schema.ts';
export type { SchemaCheckLimits } from './thread/check-schema.ts';
export type { SchemaCheck, SchemaProblem } from './thread/schema-check.ts';
export { runtimeOf } from './run/program.ts';
export { runStage } from './run/run-stage.ts';
export type { StageRequest } from './run/run-stage.ts';
export { BROKEN_CODES } from './run/stage-end.ts';
export type { BrokenCode, CheckSubmission, StageEnd } from './run/stage-end.ts';
export type {
  CheckerPackage,
  InputFile,
  StageLimits,
  StageProgram,
} from './package/checker-package.ts';
export type { Acceptance, Scalar } from './contract/acceptance.ts';
export type {
  ContractTerms,
  ExternalStage,
  Fixture,
  FixtureFile,
  ReferenceSlot,
  Requirements,
  ResultKind,
  ReviewStage,
  SandboxStage,
  Score,
  Stage,
  VerifierContract,
} from './contract/schema.ts';
export { VERIFIER_CONTRACT_JSON_SCHEMA } from './contract/json-schema.ts';
export { VerifierContractSchema } from './contract/verifier-contract.ts';
export {
  assertRevision,
  currentContract,
  planPublication,
  termsDigest,
} from './contract/versions.ts';
export type { PublicationPlan, PublishedFamily, PublishedProgram } from './contract/versions.ts';
export { slotsOfStage } from './contract/terms.ts';
export { readArchiveFiles } from './package/archive-files.ts';
export { fixFixtures } from './package/fix-fixtures.ts';
export type { FixedFile } from './package/fix-fixtures.ts';
export { lintEvidenceSchemas } from './package/lint-schemas.ts';
export { starterFiles } from './package/starter.ts';
export type { FolderFiles } from './package/folder-view.ts';
export { readCheckerFolder, readCheckerPackage } from './package/read-folder.ts';
export type { FolderReading, PackageReading } from './package/read-folder.ts';
export type { ProblemReading } from './package/read-problem.ts';
export type { CampaignDetails, ProblemDetails } from './package/problem.ts';
export type { ReferenceLink } from './package/lint-reference.ts';
export type { LintFinding } from './contract/finding.ts';
export type { LintCode } from './contract/lint-table.ts';
// Checks and problems: pure machines in the manner of settlement's.
export {
  CHECK_STATES,
  CheckCaseSchema,
  JUDGMENTS,
  STAGE_OUTCOMES,
  StageResultSchema,
} from './stages/check-case.ts';
export type {
  CheckCase,
  CheckStage,
  CheckState,
  Decider,
  Judgment,
  ProgramRef,
  Seat,
  StageOutcome,
  StageResult,
} from './stages/check-case.ts';
export type { CheckCommand, ExternalReport, Judge, Reporter } from './stages/check-command.ts';
export { decideCheck, nextDueOfCheck, openCheck, planStages } from './stages/decide-check.ts';
export type { CheckContext } from './stages/check-draft.ts';
export { claimableNode } from './stages/review-commands.ts';
export { isSignedBy, parsePartnerKey, reportBytes } from './stages/report-signature.ts';
export type { ReportStatement } from './stages/report-signature.ts';
export {
  boundTo,
  entriesEndAt,
  isReleased,
  mayRead,
  mayReadEntry,
  prepareRelease,
  toVisibleCheck,
} from './stages/sealed.ts';
export type { Release, Viewer } from './stages/sealed.ts';
export { decideProblem, draftProblem } from './stages/decide-problem.ts';
export type { ProblemContext } from './stages/problem-rules.ts';
export type {
  CheckDecision,
  CheckEffect,
  ProblemDecision,
  ProblemEffect,
  StageEvent,
} from './stages/decision.ts';
export { DEFAULT_STAGE_POLICY } from './stages/policy.ts';
export type { StagePolicy } from './stages/policy.ts';
export { BindingSchema, ProblemCaseSchema, SealingSchema } from './stages/problem-case.ts';
export type { Binding, ProblemCase, ProblemSlot, Sealing } from './stages/problem-case.ts';
export type { ProblemCommand } from './stages/problem-command.ts';
export {
  JUDGE_ROLES,
  ReviewProtocolSchema,
  ReviewProtocolTermsSchema,
} from './stages/review-protocol.ts';
export type { ReviewNode, ReviewProtocol, ReviewProtocolTerms } from './stages/review-protocol.ts';

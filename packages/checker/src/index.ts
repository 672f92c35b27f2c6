export { CHECKER_ERRORS } from './errors.ts';
export type { CheckDeps } from './run/check-deps.ts';
export { walkStages } from './run/walk-stages.ts';
export type { StageReport, WalkReport, WalkRequest } from './run/walk-stages.ts';
export { createConformance } from './run/conformance.ts';
export type { Conformance, ConformanceReport } from './run/conformance.ts';
export { NotConformantHere, orTrouble } from './run/or-trouble.ts';
export type { FixtureReport } from './run/run-fixture.ts';
export { checkAgainstSchema } from './thread/check-schema.ts';
export { runtimeOf } from './run/program.ts';
export { runStage } from './run/run-stage.ts';
export type { BrokenCode, CheckSubmission, StageEnd } from './run/stage-end.ts';
export type { CheckerPackage, InputFile } from './package/checker-package.ts';
export type { ContractTerms, Fixture, Score, Stage, VerifierContract } from './contract/schema.ts';
export { VERIFIER_CONTRACT_JSON_SCHEMA } from './contract/json-schema.ts';
export { planPublication, termsDigest } from './contract/versions.ts';
export { slotsOfStage } from './contract/terms.ts';
export { readArchiveFiles } from './package/archive-files.ts';
export { fixFixtures } from './package/fix-fixtures.ts';
export type { FixedFile } from './package/fix-fixtures.ts';
export { lintEvidenceSchemas } from './package/lint-schemas.ts';
export { starterFiles } from './package/starter.ts';
export type { FolderFiles } from './package/folder-view.ts';
export { findScript, isForScript } from './package/published-script.ts';
export { readCheckerFolder, readCheckerPackage } from './package/read-folder.ts';
export type { FolderReading } from './package/read-folder.ts';
export type { LintFinding } from './contract/finding.ts';
// Checks and problems: pure machines in the manner of settlement's.
export { CHECK_STATES, CheckCaseSchema, JUDGMENTS, STAGE_OUTCOMES } from './stages/check-case.ts';
export type { CheckCase, CheckState, Seat, StageResult } from './stages/check-case.ts';
export type { CheckCommand, ExternalReport, Judge, Reporter } from './stages/check-command.ts';
export { decideCheck, nextDueOfCheck, openCheck, planStages } from './stages/decide-check.ts';
export type { CheckContext } from './stages/check-draft.ts';
export { claimableNode } from './stages/review-commands.ts';
export { isSignedBy, parsePartnerKey, reportBytes } from './stages/report-signature.ts';
export {
  boundTo,
  entriesEndAt,
  isReleased,
  mayRead,
  mayReadEntry,
  prepareRelease,
  sealedBlobsOf,
  toVisibleCheck,
} from './stages/sealed.ts';
export type { Release, Viewer, VisibleCheck, VisibleResult } from './stages/sealed.ts';
export { decideProblem, draftProblem } from './stages/decide-problem.ts';
export type { CheckDecision, ProblemDecision } from './stages/decision.ts';
export { DEFAULT_STAGE_POLICY } from './stages/policy.ts';
export type { StagePolicy } from './stages/policy.ts';
export { ProblemCaseSchema, SealingSchema } from './stages/problem-case.ts';
export type { Binding, ProblemCase, Sealing } from './stages/problem-case.ts';
export type { ProblemCommand } from './stages/problem-command.ts';
export { ReviewProtocolSchema } from './stages/review-protocol.ts';
export type { ReviewProtocol, ReviewProtocolTerms } from './stages/review-protocol.ts';

export { CHECKER_ERRORS } from './errors.ts';
export type { CheckerErrorCode } from './errors.ts';
export { BROKEN_CODES } from './run/stage-end.ts';
export type { BrokenCode, CheckSubmission, StageEnd } from './run/stage-end.ts';
export type {
  CheckerPackage,
  InputFile,
  StageLimits,
  StageProgram,
} from './package/checker-package.ts';
export type { VerifierContract } from './contract/schema.ts';
export type { CheckDeps, CheckGate } from './run/check-deps.ts';
export { runStage } from './run/run-stage.ts';
export type { StageRequest } from './run/run-stage.ts';
export { createConformance } from './run/conformance.ts';
export type {
  Conformance,
  ConformanceListener,
  ConformanceReport,
  FixtureReport,
} from './run/conformance.ts';
export { checkAgainstSchema } from './thread/check-schema.ts';
export type { SchemaCheck, SchemaCheckLimits, SchemaProblem } from './thread/check-schema.ts';

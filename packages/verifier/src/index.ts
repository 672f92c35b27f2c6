export { VERIFIER_ERRORS } from './errors.ts';
export { lintCheckers } from './checker-fit.ts';
export type { Checkers } from './checker-fit.ts';
export { loadBaseFacts } from './base-facts.ts';
export { infraReasonOf } from './infra.ts';
export { createGate } from './gate.ts';
export type { Gate } from './gate.ts';
export { verifyCommit } from './verify-commit.ts';
export type { VerifierDeps, VerifyOptions, VerifyRequest } from './verify-commit.ts';
export {
  CriterionResultSchema,
  ReasonSchema,
  VerificationResultSchema,
  VOLATILE_FIELDS,
  withoutVolatile,
} from './result.ts';
export type { CriterionResult, Reason, StableResult, VerificationResult } from './result.ts';
export type { Step, StepKind, VerificationEvent } from './events.ts';
export { proveContract, REPLAYS_DEFAULT } from './prove/prove.ts';
export type { Prove, ProveOptions, ProveRequest, ProvingEvent } from './prove/prove.ts';
export { COLUMN_KINDS, isAsWanted, ProvingReportSchema } from './prove/report.ts';
export type {
  CriterionReplays,
  ProvingColumn,
  ProvingFinding,
  ProvingReport,
  Replay,
} from './prove/report.ts';

export { VERIFIER_ERRORS } from './errors.ts';
export { loadBaseFacts } from './base-facts.ts';
export { createGate } from './gate.ts';
export type { Gate } from './gate.ts';
export { verifyCommit } from './verify-commit.ts';
export type { VerifierDeps, VerifyOptions, VerifyRequest } from './verify-commit.ts';
export { CriterionResultSchema, ReasonSchema, VerificationResultSchema } from './result.ts';
export type { CriterionResult, Reason, VerificationResult } from './result.ts';
export type { Step, StepKind, VerificationEvent } from './events.ts';

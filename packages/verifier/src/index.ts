export { CriterionResultSchema, ReasonSchema, VerificationResultSchema } from './result.ts';
export type { CriterionResult, Reason, VerificationResult } from './result.ts';
export type { Step, StepKind, VerificationEvent } from './events.ts';

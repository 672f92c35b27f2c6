// The public surface: adding a line here makes a name public.
export { EVIDENCE_ERRORS } from './errors.ts';
export type { EvidenceErrorCode } from './errors.ts';
export { EvaluationRecordSchema } from './evaluation/record.ts';
export type { EvaluationRecord } from './evaluation/record.ts';
export { toStagesEvaluation } from './evaluation/of-stages.ts';
export { isTellable, toPublicResult } from './result/public-result.ts';
export { toStatement } from './attestation/statement.ts';
export type { AuditHead, Statement, StatementInput } from './attestation/statement.ts';
export { signStatement, verifyEnvelope } from './attestation/envelope.ts';
export type { Expectations, VerifiedEnvelope } from './attestation/envelope.ts';
export {
  parsePublicKeys,
  parseSigningKey,
  PublicKeysSchema,
  toPublicKeysDocument,
  toPublicPem,
} from './attestation/keys.ts';
export type { PublicKey, PublicKeys, SigningKey } from './attestation/keys.ts';
export { toBothViews } from './bundle/both-views.ts';
export type { BothViews } from './bundle/both-views.ts';
export { toRunEvidence } from './bundle/run-evidence.ts';
export type { RunEvidence, RunEvidenceInput } from './bundle/run-evidence.ts';
export { listedBlobs } from './bundle/manifest.ts';
export type { FileRef } from './bundle/manifest.ts';
export { packBundle } from './bundle/pack.ts';
export type { BundleParts } from './bundle/pack.ts';
export { bundleRefused } from './bundle/refused.ts';
export { readBundle } from './bundle/read.ts';
export type { ReadOptions } from './bundle/read.ts';
export type { VerifiedBundle } from './bundle/verify-texts.ts';
export { compareResults } from './replay/compare.ts';
export type { Difference } from './replay/compare.ts';
export { planReplay } from './replay/plan.ts';
export type { ReplayPlan } from './replay/plan.ts';
export { believing } from './replay/believing.ts';

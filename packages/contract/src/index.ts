export type { Finding, Severity } from './finding.ts';
export { CONTRACT_ERRORS } from './errors.ts';
export type { ContractErrorCode } from './errors.ts';
export { CONTRACT_KINDS, ContractKindSchema, ContractSchema } from './schema.ts';
export type { Contract, ContractInput, ContractKind } from './schema.ts';
export {
  ARTIFACT_SOURCES,
  COUNTED_SOURCES,
  CriterionSchema,
  isCountedSource,
  METRIC_OPS,
  METRIC_SIGNS,
  METRIC_SOURCES,
  MetricSourceSchema,
} from './criterion-schema.ts';
export type {
  CountedSource,
  Criterion,
  CriterionType,
  FileAssertion,
  Metric,
  MetricSource,
} from './criterion-schema.ts';
export { LIMIT_RANGES, WINDOW_SECONDS_MIN } from './limits.ts';
export type { LimitName, Range } from './limits.ts';
export {
  checkerDigestsOf,
  contractDigest,
  parseContract,
  withCheckerDigests,
  withDependenciesDigest,
  withPackageDigest,
} from './contract.ts';
export { PublicContractSchema, toPublicContract } from './public-contract.ts';
export type { PublicContract } from './public-contract.ts';
export { compileLinearRegex } from './linear-regex.ts';
export type { LinearRegex } from './linear-regex.ts';
export { setJsonMembers } from './edit-json.ts';
export type { JsonMember } from './edit-json.ts';
export { CONTRACT_BYTES_MAX, readContractText } from './contract-text.ts';
export type { ContractText, TextPlace } from './text-place.ts';
export { modulesInsteadOf, readInsteadOf } from './read-instead.ts';
export { isLanguageAllowed, languageNamed, languagesOf } from './languages.ts';
export {
  approveContract,
  interestingBaseFiles,
  isOpen,
  lintContract,
  sortFindings,
} from './lint.ts';
export type { Approval } from './lint.ts';
export type { BaseFacts, OperatorSettings } from './facts.ts';
export {
  FINDING_CODES,
  FINDING_TABLE,
  findingOf,
  PROVING_RULES,
  TREE_RULES,
} from './finding-table.ts';
export type { FindingCode } from './finding-table.ts';
export { repositoryUrlProblem } from './repository-url.ts';
export { isStyleCheck } from './style-check.ts';

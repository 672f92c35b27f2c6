// The public surface: adding a line here makes a name public.
export { AppError, defineErrors, isAppError } from './errors.ts';
export type { AppErrorOptions, ErrorFamily, ErrorTable, ErrorTraits, Fault } from './errors.ts';
export { systemClock } from './clock.ts';
export type { Clock } from './clock.ts';
export { canonicalDigest, canonicalJson, sha256Hex } from './digest.ts';
export { CommitShaSchema, Sha256HexSchema, VERDICTS, VerdictSchema } from './schema.ts';
export type { CommitSha, Sha256Hex, Verdict } from './schema.ts';
export {
  CHECK_REASONS,
  CONTRACT_REASONS,
  INFRA_REASONS,
  REASON_CODES,
  ReasonCodeSchema,
  SOLVER_REASONS,
  SOURCE_REASONS,
} from './reasons.ts';
export type {
  CheckReason,
  ContractReason,
  InfraReason,
  ReasonCode,
  SolverReason,
  SourceReason,
} from './reasons.ts';
export { escapeJson, toPrintable } from './printable.ts';
export { compilePathPattern, foldPath, isSpelledOut, patternProblem } from './paths.ts';
export type { PathPattern, PatternProblem } from './paths.ts';
export { createTarReader, isCompressed, readTar } from './read-tar.ts';
export type { TarEntry } from './read-tar.ts';
export { packTree, TREE_END_BYTES, TREE_TIME, treeHeader, treePadding } from './tree.ts';
export type { TreeArchive, TreeEntry } from './tree.ts';
export { BUNDLE_LIMITS, sealTree } from './seal-tree.ts';
export type { TreeLimits } from './seal-tree.ts';
export { createIdSource, ID_PREFIXES, idSchemaOf } from './ids.ts';
export type { IdKind, IdSource } from './ids.ts';
export {
  AMOUNT_MINOR_MAX,
  AmountMinorSchema,
  AmountMinorTextSchema,
  CurrencySchema,
} from './money.ts';
export { SealedVerdictSchema, verdictWithoutResult } from './sealed-verdict.ts';
export type { SealedVerdict } from './sealed-verdict.ts';

export { BROKEN_CODES } from './run/stage-end.ts';
export type { BrokenCode, CheckSubmission, StageEnd } from './run/stage-end.ts';
export type {
  CheckerPackage,
  InputFile,
  StageLimits,
  StageProgram,
} from './package/checker-package.ts';
export type { VerifierContract } from './contract/schema.ts';

export { SANDBOX_ERRORS } from './errors.ts';
export type { SandboxErrorCode } from './errors.ts';
export { OUTLIVED_STATUS } from './port.ts';
export type {
  AddedKind,
  AdditionFate,
  AdditionRule,
  CapturedStream,
  EngineFacts,
  FileReading,
  InputDigests,
  OutputStream,
  PackageAccess,
  RunOutcome,
  RunRequest,
  Sandbox,
  SandboxLimits,
  SandboxSession,
  SessionLayout,
  SessionRequest,
  StagedRun,
  WorkspaceStrategy,
} from './port.ts';

export { SANDBOX_ERRORS } from './errors.ts';
export type { SandboxErrorCode } from './errors.ts';
export type {
  AddedKind,
  AdditionFate,
  AdditionRule,
  CapturedStream,
  EngineFacts,
  FileReading,
  OutputStream,
  PackageAccess,
  RunOutcome,
  RunRequest,
  Sandbox,
  SandboxLimits,
  SandboxSession,
  SessionRequest,
  StagedRun,
  WorkspaceStrategy,
} from './port.ts';

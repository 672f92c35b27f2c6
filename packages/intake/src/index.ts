export { INTAKE_ERRORS } from './errors.ts';
export type { IntakeErrorCode } from './errors.ts';
export type {
  BaseRequest,
  BaseTree,
  CandidateTree,
  ChangedFile,
  ChangeStatus,
  FetchedCommit,
  Intake,
  IntakeOutcome,
  IntakeRequest,
  TreeEdit,
  TreeFault,
  TreeFiles,
} from './port.ts';

export { INTAKE_ERRORS } from './errors.ts';
export type { IntakeErrorCode } from './errors.ts';
export type {
  BaseRequest,
  BaseTree,
  ChangedFile,
  ChangeStatus,
  FetchedCommit,
  Intake,
  IntakeOutcome,
  IntakeRequest,
  TreeFault,
} from './port.ts';

export type {
  BaseTree,
  ChangedFile,
  ChangeStatus,
  FetchedCommit,
  Intake,
  IntakeOutcome,
  IntakeRequest,
  TreeFault,
} from './port.ts';

export { createFakeIntake, fakeCommitId } from './fake-intake.ts';
export type { FakeCommit, FakeFile, FakeIntakeOptions, FakeTree } from './fake-intake.ts';

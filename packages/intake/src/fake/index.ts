export { createFakeIntake, fakeCommitId } from './fake-intake.ts';
export type { FakeCommit, FakeIntakeOptions } from './fake-intake.ts';
export type { FakeFile, FakeTree } from './memory-tree.ts';

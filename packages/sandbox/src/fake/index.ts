export { createFakeSandbox } from './fake-sandbox.ts';
export type { FakeBehaviour, FakeCommand, FakeSandboxOptions, FakeView } from './fake-sandbox.ts';
export type { FakeEntry, FakeFiles } from './fake-files.ts';

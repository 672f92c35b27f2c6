export { createFakeCaseStore } from './fake-case-store.ts';
export type { FakeCaseStore } from './fake-case-store.ts';
export { createFakeLedger } from './fake-ledger.ts';
export type { FakeLedger } from './fake-ledger.ts';

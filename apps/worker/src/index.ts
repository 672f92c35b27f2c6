// The public surface: adding a line here makes a name public.
export { startWorker } from './start-worker.ts';
export type { Worker, WorkerOptions, WorkerState } from './start-worker.ts';

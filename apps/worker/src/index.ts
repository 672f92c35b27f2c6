// The public surface: adding a line here makes a name public.
export { createWebhookRail } from './payouts/webhook-rail.ts';
export type { WebhookRailOptions } from './payouts/webhook-rail.ts';
export type { PayoutRail, SendOutcome } from './payouts/rail.ts';
export { startScheduler } from './scheduler/scheduler.ts';
export type { Scheduler, SchedulerOptions } from './scheduler/scheduler.ts';
export { startWorker } from './start-worker.ts';
export type { Worker, WorkerOptions, WorkerState } from './start-worker.ts';

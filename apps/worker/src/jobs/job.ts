import type { Conformance } from '@kervyxa/checker';
import type { OperatorSettings } from '@kervyxa/contract';
import type { Database, LeasedJob } from '@kervyxa/db';
import type { Intake } from '@kervyxa/intake';
import type { Clock, ReasonCode } from '@kervyxa/core';
import type { Sandbox } from '@kervyxa/sandbox';
import type { Gate } from '@kervyxa/verifier';
import type { Health } from '../health.ts';
import type { Places } from '../places.ts';
import type { Signing } from './attest.ts';
import type { ProvingSettings } from '../proving-settings.ts';
import type { Log } from '../scheduler/nudge.ts';

/** What every job of a worker works with. */
export interface JobDeps {
  readonly database: Pick<Database, 'cases' | 'checkers' | 'reads' | 'work'>;
  readonly intake: Intake;
  readonly sandbox: Sandbox;
  readonly clock: Clock;
  /** The operator's runtime catalogue: name → image id. */
  readonly runtimes: ReadonlyMap<string, string>;
  readonly settings: OperatorSettings;
  readonly proving: ProvingSettings;
  /** Cores that one verification may use. */
  readonly coreCount: number;
  /** One for the whole worker. Captures are not in it: who is alone may be so for longer than they may take. */
  readonly gate: Gate;
  /** One for the whole worker: it remembers which programs have reproduced their fixtures here. Throws FixturesTooSlow. */
  readonly conformance: Conformance;
  readonly places: Places;
  /** How long a fetch may go on at its first try, whoever waits for its place. */
  readonly fetchShareMs: number;
  /** Of what is told of runs with hidden criteria; ours where it is left out. */
  readonly beatMs?: number;
  readonly health: Pick<Health, 'blame' | 'clear'>;
  readonly signing: Signing;
  readonly workerId: string;
  readonly log: Log;
}

/** What becomes of a job: done with, or to be taken again, after a while or by another worker. */
export type JobEnd =
  | { readonly kind: 'done' }
  | {
      readonly kind: 'again';
      readonly delayMs: number;
      /** For the log; null where the log has it already. */
      readonly reason: ReasonCode | null;
    }
  | { readonly kind: 'put_back' };

/**
 * Does one job. It may have been done before, in part or whole, by a worker that is gone. Rejects with the signal's
 * reason after an abort, with nothing of its own left running.
 */
export type JobHandler = (deps: JobDeps, job: LeasedJob, signal: AbortSignal) => Promise<JobEnd>;

export const DONE: JobEnd = { kind: 'done' };

const RETRY_FIRST_MS = 2_000;
const RETRY_MAX_MS = 60_000;

/** Doubles with every try, up to a minute. `tries`: how often it was tried before. */
export function again(tries: number, reason: ReasonCode | null = null): JobEnd {
  return {
    kind: 'again',
    reason,
    delayMs: Math.min(RETRY_FIRST_MS * 2 ** Math.min(tries, 10), RETRY_MAX_MS),
  };
}

const FETCH_DOUBLINGS_MAX = 2;

/** Fetches, for a share of time that grows with the tries, so that slow servers get there too. Throws GaveWay. */
export function fetchAtPlace<T>(
  { places, fetchShareMs }: JobDeps,
  { tries }: LeasedJob,
  work: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  return places.at(fetchShareMs * 2 ** Math.min(tries, FETCH_DOUBLINGS_MAX), work, signal);
}

/** Other machines may not have it. */
export const OF_MACHINES: ReadonlySet<ReasonCode> = new Set([
  'ENGINE_UNAVAILABLE',
  'HOST_DISK_FULL',
]);

/** The lease ended: somebody else has the job, or will. Nothing may be written for it any more. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/** The worker stops and gives back what it has. */
export class WorkerStopped extends Error {
  override readonly name = 'WorkerStopped';
}

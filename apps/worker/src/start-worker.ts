import { createConformance } from '@kervyxa/checker';
import type { OperatorSettings } from '@kervyxa/contract';
import type { Clock, IdSource } from '@kervyxa/core';
import type { Database, LeasedJob, QueueName } from '@kervyxa/db';
import type { Intake } from '@kervyxa/intake';
import type { Sandbox } from '@kervyxa/sandbox';
import { createGate, type Gate } from '@kervyxa/verifier';
import { createHealth } from './health.ts';
import type { Signing } from './jobs/attest.ts';
import { WorkerStopped, type JobDeps } from './jobs/job.ts';
import { withinTime } from './jobs/reproduce.ts';
import { createPlaces, type Places } from './places.ts';
import { DEFAULT_PROVING, type ProvingSettings } from './proving-settings.ts';
import { reapRepeatedly } from './reap-repeatedly.ts';
import { runJob } from './run-job.ts';
import type { Log } from './scheduler/nudge.ts';
import { planSlots } from './slots.ts';
import { runTakeLoop } from './take-loop.ts';

export interface WorkerOptions {
  readonly database: Pick<Database, 'cases' | 'checkers' | 'reads' | 'work' | 'queue'>;
  readonly intake: Intake;
  readonly sandbox: Sandbox;
  /** The operator's runtime catalogue: name → image id. */
  readonly runtimes: ReadonlyMap<string, string>;
  readonly settings: OperatorSettings;
  readonly signing: Signing;
  readonly proving?: Partial<ProvingSettings>;
  readonly clock: Clock;
  readonly newId: IdSource;
  /** Never told what is in a job, a commit or a log. */
  readonly log: Log;
  /** Of this machine; on the disk that is watched. */
  readonly stateFolder: string;
  readonly host: string;
  readonly version: string;
  readonly coreCount: number;
  /** Verifications side by side; by the cores where it is left out. */
  readonly slots?: number;
  /** How long a drain waits for what runs before it gives the rest back. */
  readonly drainMs?: number;
  /** How long a fetch may go on where others wait for its place; its later tries get more. */
  readonly fetchShareMs?: number;
  /** For tests: how often something is told of runs with hidden criteria. */
  readonly beatMs?: number;
  /** For tests: how often it looks, how little free disk makes it sick, and by which clock it rests. */
  readonly health?: {
    readonly everyMs?: number;
    readonly diskBytesMin?: number;
    readonly clock?: Clock;
  };
}

export type WorkerState = 'STARTING' | 'READY' | 'SICK' | 'DRAINING' | 'GONE';

export interface Worker {
  readonly id: string;
  /** It has looked at its machine and, if that is well, takes work. */
  readonly ready: Promise<void>;
  /** Takes nothing new, ends what runs, gives back what takes too long. Safe twice. */
  drain(): Promise<void>;
  /** Aborts what runs, removes its containers, gives it back. Also while it drains; safe twice. */
  stop(): Promise<void>;
  state(): { readonly state: WorkerState; readonly problem: string | null; readonly jobs: number };
}

const DRAIN_MS = 600_000;
const FETCH_SHARE_MS = 15_000;
/** Beside it wait the verifications of this worker. */
const FIXTURES_MS = 900_000;
/** What dead programs left on this engine is looked for that often. */
const REAP_EVERY_MS = 60_000;

/**
 * A worker: takes jobs of all queues as long as its machine is well. Start any number, on any machines.
 *
 * It can be killed at any point: its leases end, others take its jobs, and what it had begun counts for nothing.
 */
export function startWorker(options: WorkerOptions): Worker {
  const { database, sandbox, clock, log, drainMs = DRAIN_MS } = options;
  const { queue, work } = database;
  const id = options.newId('worker');
  const slots = planSlots(options.coreCount, options.slots ?? null);
  const health = createHealth({ ...options, ...options.health });
  const places = createPlaces(slots.fetches);
  const deps: JobDeps = {
    ...options,
    proving: { ...DEFAULT_PROVING, ...options.proving },
    coreCount: slots.coreCount,
    gate: narrowing(createGate(), places),
    conformance: withinTime(createConformance(), FIXTURES_MS),
    places,
    fetchShareMs: options.fetchShareMs ?? FETCH_SHARE_MS,
    health,
    workerId: id,
  };
  /** Aborted: nothing new is taken. */
  const draining = new AbortController();
  /** Aborted: what runs is given back. */
  const stopping = new AbortController();
  /** Aborted: the worker is gone, and says nothing any more. */
  const gone = new AbortController();
  let jobs = 0;
  let isLooked = false;

  const state = (): WorkerState => {
    if (gone.signal.aborted) return 'GONE';
    if (draining.signal.aborted) return 'DRAINING';
    if (!isLooked) return 'STARTING';
    return health.problem() === null ? 'READY' : 'SICK';
  };
  const tell = async (): Promise<void> => {
    const now = state();
    const { host, version } = options;
    await work
      .heartbeat({
        id,
        host,
        version,
        slots: slots.verify,
        state: now === 'STARTING' ? 'SICK' : now,
        problem: health.problem(),
      })
      .catch((error: unknown) => log.warn({ err: error }, 'the heartbeat was not stored'));
  };
  const doJob = async (name: QueueName, job: LeasedJob): Promise<void> => {
    jobs += 1;
    try {
      await runJob(name, job, deps, { leaseMs: queue.leaseMs, clock, signal: stopping.signal });
    } finally {
      jobs -= 1;
    }
  };

  const looked = Promise.withResolvers<void>();
  const watching = health.watch(gone.signal, async () => {
    isLooked = true;
    await tell();
    looked.resolve();
  });
  const reaping = reapRepeatedly(sandbox, { log, everyMs: REAP_EVERY_MS }, gone.signal);
  const loops = Promise.all(
    slots.loops.map((loop) =>
      runTakeLoop({ ...loop, queue, health, log, work: doJob }, draining.signal),
    ),
  );
  const end = async (): Promise<void> => {
    await loops;
    gone.abort();
    await Promise.all([watching, reaping]);
    await tell();
  };
  const ended = end();

  return {
    id,
    ready: looked.promise,
    drain: async () => {
      if (!draining.signal.aborted) log.info({ jobs }, 'draining: taking nothing new');
      draining.abort();
      const tooLong = setTimeout(() => stopping.abort(new WorkerStopped('drained')), drainMs);
      await ended.finally(() => clearTimeout(tooLong));
    },
    stop: async () => {
      if (!stopping.signal.aborted) log.warn({ jobs }, 'stopping: giving back what runs');
      draining.abort();
      stopping.abort(new WorkerStopped('stopped'));
      await ended;
    },
    state: () => ({ state: state(), problem: health.problem(), jobs }),
  };
}

/** Who wants to be alone, or is, is disturbed by few fetches. */
function narrowing(gate: Gate, places: Places): Gate {
  return {
    beside: gate.beside,
    alone: async (work, signal) => {
      const widen = places.narrow();
      return gate.alone(work, signal).finally(widen);
    },
  };
}

import {
  PgBoss,
  type CommandResponse,
  type Db,
  type FetchGroupConcurrencyOptions,
  type JobWithMetadata,
} from 'pg-boss';
import { z } from 'zod';
import { KEEP_ALIVE } from '../pool.ts';
import { QUEUES, type LeasedJob, type Queue, type QueueName } from '../ports.ts';
import { createSendJob, sendNew, type JobData, type SendJob } from './send.ts';
import { createSendMany, type SendMany } from './send-many.ts';
import { advanceClock, createTurns, forgetTurns, QUEUE_SCHEMA } from './turns.ts';
import { createWakes, type Wakes } from './wakes.ts';

export interface QueueOptions {
  /** How long a job without a heartbeat stays its worker's. At least 10. */
  readonly leaseSeconds?: number;
  /** How often, over all processes, leases that ended are looked for. */
  readonly reapSeconds?: number;
  /** Connections of this process for it, besides one that listens. */
  readonly connectionsMax?: number;
  /** Trouble in the background; whatever it is, it is tried again. Never tells what is in a job. */
  readonly onError: (error: unknown) => void;
}

export interface OpenQueue extends Queue {
  readonly send: SendJob;
  readonly sendMany: SendMany;
  /** After the commit that sent jobs into these queues. Returns at once. */
  wake(names: Iterable<QueueName>): void;
  /** Jobs that could be taken now, and those being worked on; a few seconds old. */
  counts(): Promise<readonly { name: QueueName; ready: number; active: number }[]>;
  /** Hints of another kind on the same connections: who made them closes them, before the queue. */
  createWakes(channel: string): Wakes;
  close(): Promise<void>;
}

const LEASE_SECONDS = 30;
const REAP_SECONDS = 5;
const CONNECTIONS_MAX = 4;
/** The longest that pg-boss allows for one job. */
const WORK_SECONDS_MAX = 86_400;
/** pg-boss forgets a job that waits longer: as good as never. */
const WAIT_SECONDS_MAX = 10 * 365 * 86_400;
const KEEP_DONE_SECONDS = 3_600;
/** Whoever loses a job counts the loss in the tables, and stops there. */
const RETRIES_MAX = 2_147_483_646;

/**
 * The queue in its own schema of the database, made where it is not there. Any number of processes may start at once.
 * Close it before the database stops.
 */
export async function createQueue(url: string, options: QueueOptions): Promise<OpenQueue> {
  const leaseSeconds = options.leaseSeconds ?? LEASE_SECONDS;
  const reapSeconds = options.reapSeconds ?? REAP_SECONDS;
  const boss = new PgBoss({
    connectionString: url,
    options: '-c timezone=UTC',
    application_name: 'kervyxa-queue',
    ...KEEP_ALIVE,
    schema: QUEUE_SCHEMA,
    max: options.connectionsMax ?? CONNECTIONS_MAX,
    schedule: false,
    superviseIntervalSeconds: reapSeconds,
    monitorIntervalSeconds: reapSeconds,
    maintenanceIntervalSeconds: KEEP_DONE_SECONDS,
    monitorVacuum: false,
    registerInstance: false,
  });
  boss.on('error', options.onError);
  await boss.start();
  const db = boss.getDb();
  for (const name of QUEUES) await openQueue(boss, name, leaseSeconds);
  await createTurns(db, QUEUES);
  const wakes = createWakes(db, 'kervyxa_queue', options.onError);

  return {
    leaseMs: leaseSeconds * 1_000,
    take: (name) => takeJob(boss, name, () => wakes.wake(name)),
    onReady: wakes.onReady,
    reap: async () => {
      await boss.supervise();
      await forgetTurns(db);
    },
    send: createSendJob(boss),
    sendMany: createSendMany(boss),
    wake: (names) => new Set(names).forEach(wakes.wake),
    counts: async () =>
      (await boss.getQueues([...QUEUES])).map(({ name, readyCount, activeCount }) => ({
        name: name as QueueName,
        ready: readyCount,
        active: activeCount,
      })),
    createWakes: (channel) => createWakes(db, channel, options.onError),
    close: async () => {
      await wakes.close();
      await boss.stop({ graceful: false });
    },
  };
}

/** Found by other processes too: the first one makes it, the last one to start says how it is. */
async function openQueue(boss: PgBoss, name: QueueName, leaseSeconds: number): Promise<void> {
  const settings = {
    heartbeatSeconds: leaseSeconds,
    expireInSeconds: WORK_SECONDS_MAX,
    retentionSeconds: WAIT_SECONDS_MAX,
    deleteAfterSeconds: KEEP_DONE_SECONDS,
    retryLimit: RETRIES_MAX,
    retryDelay: 0,
    retryBackoff: false,
  };
  // One job of a subject waits and one is worked on, and that one waits until this one has ended.
  await boss.createQueue(name, { ...settings, policy: 'stately' });
  await boss.updateQueue(name, settings);
}

/** An approval or a conformance may take long: of one person only one is done at a time, so that others find a worker. */
const TAKE_OPTIONS: Readonly<Record<QueueName, FetchGroupConcurrencyOptions>> = {
  capture: {},
  verify: {},
  conformance: { groupConcurrency: 1 },
  check: {},
  approve: { groupConcurrency: 1 },
};

async function takeJob(boss: PgBoss, name: QueueName, wake: () => void): Promise<LeasedJob | null> {
  const options = { batchSize: 1, includeMetadata: true, ...TAKE_OPTIONS[name] } as const;
  const [job] = await boss.fetch<JobData>(name, options);
  if (job === undefined || job.singletonKey === null) return null;
  await advanceClock(boss.getDb(), name, -job.priority);
  return toLeased(boss, name, { ...job, singletonKey: job.singletonKey }, wake);
}

type FetchedJob = Pick<JobWithMetadata<JobData>, 'id' | 'data' | 'retryCount'> & {
  readonly singletonKey: string;
};

function toLeased(
  boss: PgBoss,
  name: QueueName,
  { id, data, retryCount, singletonKey }: FetchedJob,
  wake: () => void,
): LeasedJob {
  // Names this taking of the job: whoever takes it after the lease has ended is not disturbed by us.
  const taking = { id, retryCount };
  const tries = data.tries + retryCount;
  const sendAgain = async (again: { delayMs: number; tries: number }): Promise<void> => {
    await inTransaction(boss.getDb(), async (db) => {
      const held = isHeld(await boss.complete(name, taking, null, { db }));
      if (held) await sendNew(boss, db, name, singletonKey, { ...data, ...again });
    });
    wake();
  };
  return {
    id,
    subjectId: singletonKey,
    tries,
    beat: async () => isHeld(await boss.touch(name, taking)),
    complete: async () => {
      // No hint: whoever completes looks for the next one anyway, and finds one of this subject that waited for it.
      await boss.complete(name, taking);
    },
    giveBack: (delayMs) => sendAgain({ delayMs, tries: tries + 1 }),
    putBack: () => sendAgain({ delayMs: 0, tries }),
  };
}

/** pg-boss answers more than its types tell. */
const ResponseSchema = z.looseObject({ affected: z.int() });

function isHeld(response: CommandResponse): boolean {
  return ResponseSchema.parse(response).affected > 0;
}

async function inTransaction(db: Db, work: (db: Db) => Promise<void>): Promise<void> {
  const transaction = await db.beginTransaction?.();
  if (transaction === undefined) throw new Error('this connection of pg-boss has no transactions');
  try {
    await work(transaction.db);
    await transaction.commit();
  } catch (error) {
    await transaction.rollback();
    throw error;
  }
}

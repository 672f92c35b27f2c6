import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { LeasedJob } from '../ports.ts';
import { openTestDatabase, type TestDatabase } from '../testing/index.ts';
import { createQueue, type OpenQueue } from './create-queue.ts';
import type { SendOptions } from './send.ts';

let database: TestDatabase;
let queue: OpenQueue;
/** As another process sees it. */
let other: OpenQueue;
let troubles: unknown[];
let counter = 0;

beforeAll(async () => {
  troubles = [];
  database = await openTestDatabase();
  const open = () =>
    createQueue(database.url, { reapSeconds: 1, onError: (error) => troubles.push(error) });
  const opened = await Promise.all([open(), open(), open(), open()]);
  for (const each of opened.slice(2)) await each.close();
  [queue, other] = opened as unknown as [OpenQueue, OpenQueue]; // Four were opened.
});

afterAll(async () => {
  await queue.close();
  await other.close();
  await database.close();
});

/** Each test has subjects of its own, and leaves nothing in the queue. */
function newSubject(): string {
  counter += 1;
  return `run_${counter}`;
}

const FLOW = { contractId: 'con_1', solverId: 'prn_1' };

async function send(subject: string, options: Partial<SendOptions> = {}): Promise<void> {
  const sql = await database.pool.connect();
  try {
    await sql.query('BEGIN');
    await queue.send(sql, 'verify', subject, { ...FLOW, delayMs: 0, ...options });
    await sql.query('COMMIT');
  } finally {
    sql.release();
  }
  queue.wake(['verify']);
}

async function take(from: OpenQueue = queue): Promise<LeasedJob> {
  const job = await from.take('verify');
  if (job === null) throw new Error('expected a job, got none');
  return job;
}

/** Takes and completes all that can be taken now, in the order in which it comes. */
async function takeAll(max = Infinity): Promise<string[]> {
  const subjects: string[] = [];
  while (subjects.length < max) {
    const job = await queue.take('verify');
    if (job === null) break;
    subjects.push(job.subjectId);
    await job.complete();
  }
  return subjects;
}

/** As if its worker had been silent for longer than the lease. */
async function endLease(job: LeasedJob): Promise<void> {
  await database.pool.query(
    `UPDATE queue.job SET heartbeat_on = now() - interval '1 hour' WHERE id = $1`,
    [job.id],
  );
}

describe('a job', () => {
  it('is there if and only if the transaction that sent it commits', async () => {
    const [kept, dropped] = [newSubject(), newSubject()];
    const sql = await database.pool.connect();
    await sql.query('BEGIN');
    await queue.send(sql, 'verify', dropped, { ...FLOW, delayMs: 0 });
    expect(await queue.take('verify')).toBeNull();
    await sql.query('ROLLBACK');
    sql.release();
    await send(kept);
    expect(await takeAll()).toEqual([kept]);
  });

  it('waits once, however often it is sent', async () => {
    const subject = newSubject();
    await send(subject);
    await send(subject);
    await send(subject, { delayMs: 60_000 });
    expect(await takeAll()).toEqual([subject]);
  });

  it('is ready at once where it waited for a later time and is now wanted at once', async () => {
    const subject = newSubject();
    await send(subject, { delayMs: 3_600_000 });
    expect(await queue.take('verify')).toBeNull();
    await send(subject);
    expect(await takeAll()).toEqual([subject]);
  });

  it('is sent while its subject is worked on: the second waits for the end of the first', async () => {
    const subject = newSubject();
    await send(subject);
    const first = await take();
    await send(subject);
    expect(await other.take('verify')).toBeNull();
    expect(await first.beat()).toBe(true);
    await first.complete();
    const second = await take(other);
    expect(second.subjectId).toBe(subject);
    await second.complete();
  });

  it('is wanted again by a transaction that has not committed: nobody takes the waiting one before', async () => {
    const subject = newSubject();
    await send(subject);
    const sql = await database.pool.connect();
    await sql.query('BEGIN');
    await queue.send(sql, 'verify', subject, { ...FLOW, delayMs: 0 });
    // Whoever took it now would look at the subject as it was before, and the wish would be lost.
    expect(await other.take('verify')).toBeNull();
    await sql.query('COMMIT');
    sql.release();
    expect(await takeAll()).toEqual([subject]);
  });

  it('comes back after a while when it is given back, and tells how often that was', async () => {
    const subject = newSubject();
    await send(subject);
    const first = await take();
    expect(first.tries).toBe(0);
    await first.giveBack(0);
    const second = await take();
    expect(second).toMatchObject({ subjectId: subject, tries: 1 });
    await second.putBack();
    const third = await take();
    expect(third).toMatchObject({ subjectId: subject, tries: 1 });
    await third.giveBack(3_600_000);
    expect(await queue.take('verify')).toBeNull();
    await send(subject);
    expect(await takeAll()).toEqual([subject]);
  });
});

// Keeps R-QUEUE-AT-LEAST-ONCE.
describe('BUG-56 a worker that fell silent', () => {
  it('loses the job to another, and can neither extend, end nor return it any more', async () => {
    const subject = newSubject();
    await send(subject);
    const lost = await take();
    await endLease(lost);
    const taken = await vi.waitFor(
      async () => {
        await other.reap();
        return take(other);
      },
      { timeout: 20_000 },
    );
    expect(taken).toMatchObject({ subjectId: subject, tries: 1 });
    expect(await lost.beat()).toBe(false);
    await lost.complete();
    await lost.giveBack(0);
    expect(await taken.beat()).toBe(true);
    expect(await queue.take('verify')).toBeNull();
    await taken.complete();
  });
});

describe('a hint', () => {
  it('reaches the workers of other processes', async () => {
    let heard = 0;
    const stop = other.onReady('verify', () => {
      heard += 1;
    });
    // The listening begins with the first listener, and takes a moment.
    const isHeard = async (): Promise<number> => {
      queue.wake(['verify']);
      return heard;
    };
    await expect.poll(isHeard).toBeGreaterThan(0);
    stop();
  });
});

// Keeps R-QUEUE-FAIR.
describe('S28 a solver or contract with many jobs', () => {
  const CROWD = 100;

  it('of one solver on many contracts: the first job of another solver is next but one', async () => {
    const crowd = Array.from({ length: CROWD }, newSubject);
    for (const [index, subject] of crowd.entries()) {
      await send(subject, { solverId: 'prn_many', contractId: `con_many_${index}` });
    }
    const single = newSubject();
    await send(single, { solverId: 'prn_single', contractId: 'con_single' });
    const order = await takeAll();
    expect(order.indexOf(single)).toBeLessThanOrEqual(1);
    expect(order).toHaveLength(CROWD + 1);
  });

  it('of many solvers on one contract: the first job of another contract is next but one', async () => {
    const crowd = Array.from({ length: CROWD }, newSubject);
    for (const [index, subject] of crowd.entries()) {
      await send(subject, { solverId: `prn_crowd_${index}`, contractId: 'con_crowd' });
    }
    const before = await takeAll(CROWD / 2);
    const single = newSubject();
    await send(single, { solverId: 'prn_crowd_1', contractId: 'con_quiet' });
    const after = await takeAll();
    expect(before).toEqual(crowd.slice(0, CROWD / 2));
    expect(after.indexOf(single)).toBeLessThanOrEqual(1);
  });

  it('sends them all at once: they take the turns that they would get one after the other', async () => {
    const crowd = Array.from({ length: 10 }, newSubject);
    const flow = { solverId: 'prn_batch', contractId: 'con_batch' };
    const sql = await database.pool.connect();
    const jobs = crowd.map((subjectId) => ({ subjectId, ...flow }));
    await queue.sendMany.send(sql, 'verify', await queue.sendMany.plan(sql, 'verify', jobs));
    sql.release();
    const [single, last] = [newSubject(), newSubject()];
    await send(single, { solverId: 'prn_alone', contractId: 'con_alone' });
    await send(last, flow);
    const order = await takeAll();
    expect(order.filter((subject) => subject !== single)).toEqual([...crowd, last]);
    expect(order.indexOf(single)).toBe(1);
  });

  it.each(['approve', 'conformance'] as const)(
    'asks for many jobs of %s, each of which takes long: one at a time, and others find a worker',
    async (name) => {
      const ask = async (subject: string, solverId: string) => {
        const sql = await database.pool.connect();
        await queue.send(sql, name, subject, { contractId: subject, solverId, delayMs: 0 });
        sql.release();
      };
      const [first, second, single] = [newSubject(), newSubject(), newSubject()];
      await ask(first, `prn_many_${name}`);
      await ask(second, `prn_many_${name}`);
      const running = await queue.take(name);
      expect(running?.subjectId).toBe(first);
      expect(await other.take(name)).toBeNull();
      await ask(single, `prn_one_${name}`);
      const beside = await other.take(name);
      expect(beside?.subjectId).toBe(single);
      // Given back, it is still the requester's.
      await running?.giveBack(0);
      const next = await queue.take(name);
      expect(next?.subjectId).toBe(second);
      expect(await other.take(name)).toBeNull();
      await beside?.complete();
      await next?.complete();
      const last = await queue.take(name);
      expect(last?.subjectId).toBe(first);
      await last?.complete();
    },
  );

  it('still gets its turns when somebody new comes after every job', async () => {
    const backlog = Array.from({ length: 20 }, newSubject);
    for (const subject of backlog)
      await send(subject, { solverId: 'prn_slow', contractId: 'con_slow' });
    const order: string[] = [];
    // At most as many others in a round as have come in the round before, and one more.
    const most = backlog.length ** 2;
    while (!backlog.every((subject) => order.includes(subject)) && order.length < most) {
      order.push(...(await takeAll(1)));
      const newcomer = newSubject();
      await send(newcomer, { solverId: `prn_${newcomer}`, contractId: `con_${newcomer}` });
    }
    expect(order.filter((subject) => backlog.includes(subject))).toEqual(backlog);
    await takeAll();
  });

  it('leaves no record of turns that have gone by, and no trouble in the background', async () => {
    await queue.reap();
    const { rows } = await database.pool.query('SELECT count(*)::int AS count FROM queue.turn');
    expect(rows).toEqual([{ count: 0 }]);
    expect(troubles).toEqual([]);
  });
});

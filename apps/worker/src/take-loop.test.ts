import type { LeasedJob, Queue, QueueName } from '@kervyxa/db';
import { describe, expect, it } from 'vitest';
import { recordingLog } from './testing/recording-log.ts';
import { runTakeLoop } from './take-loop.ts';

/** Jobs that wait, by queue; a job is its own name. */
function queueOf(waiting: Readonly<Partial<Record<QueueName, string[]>>>): Queue {
  return {
    leaseMs: 1_000,
    take: async (name) => {
      const id = waiting[name]?.shift();
      return id === undefined ? null : ({ id } as LeasedJob);
    },
    onReady: () => () => undefined,
    reap: async () => undefined,
  };
}

describe('queues that share slots', () => {
  it('are taken from in turn: a thousand jobs of one keep no other waiting for more than one', async () => {
    const ending = new AbortController();
    const done: string[] = [];
    await runTakeLoop(
      {
        queue: queueOf({
          verify: ['v1', 'v2', 'v3', 'v4'],
          check: ['c1', 'c2'],
          conformance: ['f1'],
        }),
        names: ['verify', 'check', 'conformance'],
        slots: 1,
        health: { whenWell: async () => undefined, problem: () => null },
        log: recordingLog(),
        work: async (_name, { id }) => {
          done.push(id);
          if (done.length === 7) ending.abort();
        },
      },
      ending.signal,
    );
    expect(done).toEqual(['v1', 'c1', 'f1', 'v2', 'c2', 'v3', 'v4']);
  });
});

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { VerificationResultSchema, withoutVolatile } from '@kervyxa/verifier';
import { Client } from 'pg';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { createClient } from '../../demo/life/client.ts';
import { watchContract } from '../../demo/life/events.ts';
import {
  AnythingSchema,
  approve,
  draft,
  hire,
  IdSchema,
  prepare,
} from '../../demo/life/opening.ts';
import { type Machines, openMachines } from '../../demo/life/stage.ts';
import { loadFixture, withOrigin } from '../../fixtures/load.ts';

// The same as reproducible.int.test.ts, of the daemon's processes: a verdict is sealed by one worker, and a rerun of it
// by another one that shares nothing with it but the database.

const TEST_MS_MAX = 600_000;
/** Until long after the test: nothing is to be settled. */
const WINDOW_SECONDS = 3_600;
const BUSY = ['-e', 'for (;;);'];
const RUNS = `SELECT purpose, result, worker_id FROM runs
  JOIN attempts ON run_id = id AND number = attempt WHERE submission_id = $1 ORDER BY created_at`;
const RunsSchema = z.array(
  z.strictObject({ purpose: z.string(), result: z.string(), worker_id: z.string() }),
);
const { signal } = new AbortController();

// Keeps R-SAME-RESULT.
it(
  'gives a submission the same result on one worker at rest and on another beside processes that never rest',
  { timeout: TEST_MS_MAX },
  async () => {
    const fixture = await loadFixture('speed-by-count');
    await using stack = new AsyncDisposableStack();
    const machines = await openMachines({
      fixtures: [fixture],
      env: { KERVYXA_PROVE_REPLAYS: '2' },
      signal,
      log: () => undefined,
    });
    stack.defer(() => machines.close());
    const { origin, operatorKey, gitOrigin } = machines;
    const clientOf = (apiKey: string) => createClient(origin, apiKey, signal);
    const { rita, ana, dina } = await hire(clientOf(operatorKey), clientOf);

    const first = await machines.startWorker('worker-a');
    const asked = { fixture, gitOrigin, windowSeconds: WINDOW_SECONDS };
    const contractId = await draft(rita.client, await prepare(rita.client, asked));
    const { state, approval } = await approve(rita.client, contractId);
    expect({ state, approval }).toMatchObject({ state: 'PROVED' });
    const url = `${origin}/v1/contracts/${contractId}/events`;
    const watch = await watchContract({
      url,
      apiKey: operatorKey,
      signal,
      onEvent: () => undefined,
    });
    await rita.client.post(`/contracts/${contractId}/fund`, {}, AnythingSchema);
    await watch.until('contract_open', null);
    const submission = await ana.client.post(
      `/contracts/${contractId}/submissions`,
      {
        repositoryUrl: withOrigin(fixture.contract, gitOrigin).repository.url,
        commit: fixture.expected.commits['honest-fenwick']?.sha,
      },
      IdSchema,
    );
    await Promise.race([watch.until('submission_passed', submission.id), first.ended]);
    await first.stop();

    for (let core = 0; core < 2 * availableParallelism(); core += 1) {
      const child = spawn(process.execPath, BUSY, { stdio: 'ignore' });
      stack.defer(() => endBusy(child));
    }
    const challenge = await dina.client.post(
      `/submissions/${submission.id}/challenges`,
      { kind: 'RERUN_VERIFICATION', evidence: 'It passed by luck.' },
      IdSchema,
    );
    const second = await machines.startWorker('worker-b');
    await Promise.race([watch.until('challenge_upheld', challenge.id), second.ended]);

    const runs = await loadRuns(machines, submission.id);
    expect(runs.map(({ purpose }) => purpose)).toEqual(['VERIFY', 'RERUN']);
    expect(new Set(runs.map(({ worker_id: workerId }) => workerId)).size).toBe(2);
    const [sealed, again] = runs.map(({ result }) => toText(result));
    expect(again).toBe(sealed);
  },
);

async function endBusy(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

async function loadRuns(
  { databaseUrl }: Machines,
  submissionId: string,
): Promise<z.infer<typeof RunsSchema>> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return RunsSchema.parse((await client.query(RUNS, [submissionId])).rows);
  } finally {
    await client.end();
  }
}

/** A stored result without what may differ, to the byte. */
function toText(result: string): string {
  const { changedFileCount, ...stored } = z
    .looseObject({ changedFileCount: z.int() })
    .parse(JSON.parse(result));
  const verified = withoutVolatile(VerificationResultSchema.parse(stored));
  return JSON.stringify({ ...verified, changedFileCount }, null, 2);
}

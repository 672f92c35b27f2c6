import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { migrateDatabase } from '@kervyxa/db';
import { startEmbedded } from '@kervyxa/db/embedded';
import { Client } from 'pg';
import { openRegistrar, sendJson, startDaemon, submit, type Person } from './daemon-client.ts';
import { openFloor, type DatabaseFloor } from './database-floor.ts';
import { openHttpLane, type HttpLane } from './http-lane.ts';
import { percentile, runLanes } from './load.ts';
import { atLeast, measureInterleaved, ratio, type Ratio, type Sample, timed } from './measure.ts';
import { say } from './run.ts';

/** Of the floor: as many as the API has of its own. */
const CONNECTIONS = 10;
/** Of the API: what many solvers have at once. */
const CLIENTS = 128;
/** As many as the operator's default lets one solver have in one line, and one line have. */
const SOLVERS = 50;
const SUBMISSIONS_EACH = 20;
const STARTS = 40;
const START_MS_MAX = 50;

const AT_ONCE = 800;
const ALONE = 200;
const INSERTS = 'plain inserts x 800, 10 connections';
const ACCEPTS = 'submissions through the API x 800, 128 clients';
const INSERTS_ALONE = 'plain inserts x 200, 1 connection';
const ACCEPTS_ALONE = 'submissions through the API x 200, 1 client';
const SELECTS = 'plain selects x 800, 10 connections';
const READS = 'reads of a submission through the API x 800, 128 clients';
const NOTIFIES = 'LISTEN/NOTIFY and select x 40';
const STARTED = 'submissions to an idle worker x 40';

/** (d): the daemon on the built-in PostgreSQL, against the same PostgreSQL with nothing of ours around it. */
export async function benchDaemon(
  root: string,
  rounds: number,
): Promise<[Ratio[], Record<string, Sample>]> {
  const folder = join(root, 'postgres');
  await mkdir(folder, { mode: 0o711 });
  await using stack = new AsyncDisposableStack();
  const embedded = await startEmbedded({ folder, log: say });
  stack.defer(() => embedded.stop());
  return await measure(stack, embedded.url, rounds);
}

async function measure(
  stack: AsyncDisposableStack,
  url: string,
  rounds: number,
): Promise<[Ratio[], Record<string, Sample>]> {
  // A worker would take the jobs of the other series: each has a database of its own, on one server.
  const [loadUrl, startUrl] = [await newDatabase(url, 'load'), await newDatabase(url, 'start')];
  const floor = await openFloor(url, CONNECTIONS);
  stack.defer(() => floor.close());
  const load = await openLoad(stack, loadUrl, rounds);
  const start = await openStart(stack, startUrl, rounds);
  const notifyMs: number[] = [];
  let round = 0;
  const ids = (name: string, length: number): string[] =>
    Array.from({ length }, (_, index) => `${name}-${round}-${index}`);
  const samples = await measureInterleaved(
    {
      [INSERTS]: () => timed(() => runLanes(floor.inserts, ids('many', AT_ONCE))),
      [ACCEPTS]: () => timed(() => load.accept(round)),
      [INSERTS_ALONE]: () => timed(() => runLanes(floor.inserts.slice(0, 1), ids('alone', ALONE))),
      [ACCEPTS_ALONE]: () => timed(() => load.acceptAlone(round)),
      [SELECTS]: () => timed(() => runLanes(floor.selects, ids('many', AT_ONCE))),
      [READS]: () => timed(() => load.read()),
      [NOTIFIES]: () => timed(() => notify(floor, round, notifyMs)),
      [STARTED]: () => timed(() => start.submitOneByOne(round)),
    },
    rounds,
    (current) => {
      round = current;
      say(`daemon, round ${current} of ${rounds}`);
    },
  );
  return [toRatios(samples, notifyMs, await start.latencies()), samples];
}

function toRatios(
  samples: Readonly<Record<string, Sample>>,
  notifyMs: readonly number[],
  { captureMs, runMs }: Latencies,
): Ratio[] {
  const rates = (floor: string, ours: string): number =>
    (samples[floor]?.medianMs ?? Number.NaN) / (samples[ours]?.medianMs ?? Number.NaN);
  const floorMs = percentile(notifyMs, 0.5);
  const [captureP50, runP50] = [captureMs, runMs].map((all) => percentile(all, 0.5) / floorMs);
  const [captureP95, runP95] = [captureMs, runMs].map(
    (all) => percentile(all, 0.95) / START_MS_MAX,
  );
  const none = Number.NaN;
  return [
    atLeast(
      'd-accept',
      'submissions accepted a second / plain inserts a second, at once',
      rates(INSERTS, ACCEPTS),
      0.25,
    ),
    atLeast(
      'd-accept-alone',
      'submissions accepted a second / plain inserts a second, one after the other',
      rates(INSERTS_ALONE, ACCEPTS_ALONE),
      null,
    ),
    atLeast(
      'd-read',
      'submissions read a second / plain selects a second, at once',
      rates(SELECTS, READS),
      null,
    ),
    ratio('d-capture-p95', 'start of a capture, p95 / 50 ms', captureP95 ?? none, 1),
    ratio('d-run-p95', 'start of a run, p95 / 50 ms', runP95 ?? none, 1),
    ratio(
      'd-capture-p50',
      'start of a capture / notify + select, medians',
      captureP50 ?? none,
      null,
    ),
    ratio('d-run-p50', 'start of a run / notify + select, medians', runP50 ?? none, null),
  ];
}

async function notify(floor: DatabaseFloor, round: number, found: number[]): Promise<void> {
  for (let index = 0; index < STARTS; index += 1) {
    const ms = await floor.notify(`notify-${round}-${index}`);
    if (round > 0) found.push(ms);
  }
}

async function newDatabase(url: string, name: string): Promise<string> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  const made = url.replace(/\/[a-z_]+\?/, `/${name}?`);
  await migrateDatabase(made);
  return made;
}

async function openLoad(stack: AsyncDisposableStack, url: string, rounds: number) {
  const { contracts, solvers } = await prepare(url, rounds + 1);
  // Approved by now; from here on nobody works on what is queued.
  const daemon = await startDaemon(url, 'api');
  stack.defer(() => daemon.stop());
  const lanes = await Promise.all(Array.from({ length: CLIENTS }, () => openHttpLane(daemon.url)));
  stack.defer(() => lanes.forEach((lane) => lane.close()));
  /** What the round with many connections has made, to be read. */
  let taken: { readonly id: string; readonly key: string }[] = [];
  const submitBy =
    (lane: HttpLane, contractId: string) =>
    async ({ key }: Person): Promise<void> => {
      const commit = randomBytes(20).toString('hex');
      taken.push({ id: await submit(lane, contractId, { key, commit }), key });
    };
  const all = Array.from({ length: SUBMISSIONS_EACH }, () => solvers).flat();
  return {
    accept: async (round: number): Promise<void> => {
      taken = [];
      await runLanes(
        lanes.map((lane) => submitBy(lane, contracts[round] ?? '')),
        all.slice(0, AT_ONCE),
      );
    },
    acceptAlone: (round: number): Promise<void> =>
      runLanes(
        lanes.slice(0, 1).map((lane) => submitBy(lane, contracts[round] ?? '')),
        all.slice(AT_ONCE, AT_ONCE + ALONE),
      ),
    read: () =>
      runLanes(
        lanes.map((lane) => async ({ id, key }: { id: string; key: string }) => {
          await sendJson(lane, { method: 'GET', path: `/v1/submissions/${id}`, key });
        }),
        taken.slice(0, AT_ONCE),
      ),
  };
}

/** A contract for each round, the one to warm up included. */
async function prepare(url: string, contractCount: number) {
  await using stack = new AsyncDisposableStack();
  const daemon = await startDaemon(url, 'worker');
  stack.defer(() => daemon.stop());
  const registrar = await openRegistrar(daemon);
  stack.defer(() => registrar.close());
  const requester = await registrar.newPerson('requester', 'requester');
  const contracts: string[] = [];
  for (let count = 0; count < contractCount; count += 1) {
    contracts.push(await registrar.openContract(`Contract ${count}`, requester));
  }
  const solvers: Person[] = [];
  for (let index = 0; index < SOLVERS; index += 1) {
    solvers.push(await registrar.newPerson(`solver ${index}`, 'solver'));
  }
  return { contracts, solvers };
}

interface Latencies {
  /** From the commit of the request to a worker that has the job, by the database's clock, in milliseconds. */
  readonly captureMs: readonly number[];
  /** The same, for the verification that a capture makes possible. */
  readonly runMs: readonly number[];
}

async function openStart(stack: AsyncDisposableStack, url: string, rounds: number) {
  const { contracts, solvers } = await prepare(url, rounds + 1);
  const daemon = await startDaemon(url, 'worker');
  stack.defer(() => daemon.stop());
  const lane = await openHttpLane(daemon.url);
  stack.defer(() => lane.close());
  const client = new Client({ connectionString: url });
  await client.connect();
  stack.defer(() => client.end());
  const isDecided = async (id: string): Promise<boolean> => {
    const text = `SELECT 1 FROM submissions WHERE id = $1 AND state = 'FAILED'`;
    return (await client.query(text, [id])).rowCount === 1;
  };
  const milliseconds = async (text: string, contractIds: readonly string[]): Promise<number[]> =>
    (await client.query<{ ms: string }>(text, [contractIds])).rows.map(({ ms }) => Number(ms));
  return {
    /** Each when the one before is decided, so that the worker is idle. */
    submitOneByOne: async (round: number) => {
      for (const { key } of solvers.slice(0, STARTS)) {
        const id = await submit(lane, contracts[round] ?? '', { key, commit: daemon.commit });
        while (!(await isDecided(id))) await delay(5);
      }
    },
    latencies: async (): Promise<Latencies> => ({
      captureMs: await milliseconds(
        `SELECT extract(epoch FROM started_on - created_on) * 1000 AS ms FROM queue.job
         WHERE name = 'capture' AND data->>'contractId' = ANY ($1)`,
        contracts.slice(1),
      ),
      runMs: await milliseconds(
        `SELECT extract(epoch FROM started_at - created_at) * 1000 AS ms FROM runs
         WHERE contract_id = ANY ($1)`,
        contracts.slice(1),
      ),
    }),
  };
}

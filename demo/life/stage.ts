import { chmod, copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbedded } from '@kervyxa/db/embedded';
import { ensureReady, stateFolder } from '@kervyxa/setup';
import { startGitServer } from '@kervyxa/testing';
import { buildFixtureRepository, type Fixture } from '../../fixtures/load.ts';
import { startDaemon, type Daemon } from './daemon.ts';

const CATALOGUE = 'runtimes.json';

export interface StageOptions {
  /** Those whose histories are served. */
  readonly fixtures: readonly Fixture[];
  /** Everything in one process, or an API and two workers that share a database, as on several machines. */
  readonly layout?: 'one process' | 'several machines';
  readonly signal: AbortSignal;
  /** Lines about what takes long. */
  readonly log: (line: string) => void;
}

/** A git server with the fixtures' histories, and kervyxa as an operator starts it. */
export interface Stage {
  /** Of the API, such as `http://127.0.0.1:4000`. */
  readonly origin: string;
  readonly operatorKey: string;
  /** Where the repositories are served. */
  readonly gitOrigin: string;
  /** The last lines that each process logged. */
  lastLines(): readonly string[];
  /** Rejects if a process ends before the stage is closed. */
  readonly ended: Promise<never>;
  /** Stops kervyxa as Ctrl-C does, then everything else. Safe to call twice. */
  close(): Promise<void>;
}

/** An API on a database of its own, to which workers come and go, as on several machines. */
export interface Machines extends Stage {
  readonly databaseUrl: string;
  /** With a state folder of its own, by the name; stopped with the stage at the latest. The stage's `ended` leaves it out. */
  startWorker(name: string): Promise<Daemon>;
}

/** Starts kervyxa on a database of its own, with this machine's engine and images. Leaves nothing after a failure. */
export function openStage(options: StageOptions): Promise<Stage> {
  const { layout = 'one process' } = options;
  return onStack(async (stack) => {
    const place = await preparePlace(stack, options);
    if (layout === 'one process') {
      return toStage(stack, place, [
        await startOn(stack, place, { name: 'up', argv: ['up', '--port', '0'] }),
      ]);
    }
    const { api, startWorker } = await startMachines(stack, place);
    return toStage(stack, place, [
      api,
      await startWorker('worker-1'),
      await startWorker('worker-2'),
    ]);
  });
}

/** As `openStage`, with no worker yet. `env`: what the operator says to every process. */
export function openMachines(
  options: Omit<StageOptions, 'layout'> & { readonly env?: NodeJS.ProcessEnv },
): Promise<Machines> {
  return onStack(async (stack) => {
    const place = await preparePlace(stack, options);
    const { api, ...machines } = await startMachines(stack, place);
    return { ...toStage(stack, place, [api]), ...machines };
  });
}

/** Disposes of what was opened if not all of it could be. */
async function onStack<T>(open: (stack: AsyncDisposableStack) => Promise<T>): Promise<T> {
  const stack = new AsyncDisposableStack();
  try {
    return await open(stack);
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

interface Place {
  readonly folder: string;
  readonly gitOrigin: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

async function preparePlace(
  stack: AsyncDisposableStack,
  { fixtures, env = {}, signal, log }: StageOptions & { readonly env?: NodeJS.ProcessEnv },
): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), 'kervyxa-demo-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  // PostgreSQL runs as another user where we are root.
  await chmod(folder, 0o711);
  const served = join(folder, 'served');
  const git = await startGitServer({ root: served });
  stack.defer(() => git.close());
  for (const fixture of fixtures) await buildFixtureRepository(fixture, served);
  const { dockerHost } = await ensureReady({ log, signal });
  return {
    folder,
    gitOrigin: git.origin,
    env: {
      KERVYXA_GIT_ALLOW: git.origin,
      KERVYXA_WINDOW_MIN_SECONDS: '1',
      DOCKER_HOST: dockerHost,
      DATABASE_URL: '',
      ...env,
    },
    signal,
  };
}

/** The first one has the API. */
type Daemons = readonly [Daemon, ...Daemon[]];

function toStage(stack: AsyncDisposableStack, { gitOrigin }: Place, daemons: Daemons): Stage {
  const [{ origin, operatorKey }] = daemons;
  const ended = Promise.race(daemons.map((daemon) => daemon.ended));
  ended.catch(() => undefined);
  return {
    origin,
    operatorKey,
    gitOrigin,
    lastLines: () => daemons.flatMap((daemon) => daemon.lastLines()),
    ended,
    close: () => stack.disposeAsync(),
  };
}

async function startMachines(
  stack: AsyncDisposableStack,
  place: Place,
): Promise<Pick<Machines, 'databaseUrl' | 'startWorker'> & { readonly api: Daemon }> {
  const database = await startEmbedded({ folder: join(place.folder, 'db'), log: () => undefined });
  stack.defer(() => database.stop());
  const databaseUrl = database.url;
  const shared = { ...place, env: { ...place.env, DATABASE_URL: databaseUrl } };
  return {
    databaseUrl,
    api: await startOn(stack, shared, { name: 'api', argv: ['api', '--port', '0'] }),
    startWorker: (name) => startOn(stack, shared, { name, argv: ['worker'] }),
  };
}

/** With a state folder of its own that knows the images of this machine's. */
async function startOn(
  stack: AsyncDisposableStack,
  { folder, env, signal }: Place,
  { name, argv }: { readonly name: string; readonly argv: readonly string[] },
): Promise<Daemon> {
  const home = join(folder, name);
  await mkdir(home);
  await copyFile(join(stateFolder(), CATALOGUE), join(home, CATALOGUE));
  return startDaemon(stack, { argv, env: { ...env, KERVYXA_HOME: home }, signal });
}

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

/** Starts kervyxa on a database of its own, with this machine's engine and images. Leaves nothing after a failure. */
export async function openStage(options: StageOptions): Promise<Stage> {
  const { fixtures, layout = 'one process', signal, log } = options;
  const stack = new AsyncDisposableStack();
  try {
    const folder = await mkdtemp(join(tmpdir(), 'kervyxa-demo-'));
    stack.defer(() => rm(folder, { recursive: true, force: true }));
    // PostgreSQL runs as another user where we are root.
    await chmod(folder, 0o711);
    const served = join(folder, 'served');
    const git = await startGitServer({ root: served });
    stack.defer(() => git.close());
    for (const fixture of fixtures) await buildFixtureRepository(fixture, served);
    const { dockerHost } = await ensureReady({ log, signal });
    const env = {
      KERVYXA_GIT_ALLOW: git.origin,
      KERVYXA_WINDOW_MIN_SECONDS: '1',
      DOCKER_HOST: dockerHost,
      DATABASE_URL: '',
    };
    const start = layout === 'one process' ? startOne : startSeveral;
    const daemons = await start(stack, { folder, env, signal });
    const [{ origin, operatorKey }] = daemons;
    const ended = Promise.race(daemons.map((daemon) => daemon.ended));
    ended.catch(() => undefined);
    return {
      origin,
      operatorKey,
      gitOrigin: git.origin,
      lastLines: () => daemons.flatMap((daemon) => daemon.lastLines()),
      ended,
      close: () => stack.disposeAsync(),
    };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

interface Place {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}
/** The first one has the API. */
type Daemons = readonly [Daemon, ...Daemon[]];

async function startOne(
  stack: AsyncDisposableStack,
  { folder, env, signal }: Place,
): Promise<Daemons> {
  const home = await makeHome(folder, 'up');
  return [
    await startDaemon(stack, { argv: ['up', '--port', '0'], env: { ...env, ...home }, signal }),
  ];
}

async function startSeveral(
  stack: AsyncDisposableStack,
  { folder, env, signal }: Place,
): Promise<Daemons> {
  const database = await startEmbedded({ folder: join(folder, 'db'), log: () => undefined });
  stack.defer(() => database.stop());
  const start = async (name: string, argv: readonly string[]): Promise<Daemon> => {
    const own = { ...env, ...(await makeHome(folder, name)), DATABASE_URL: database.url };
    return startDaemon(stack, { argv, env: own, signal });
  };
  return [
    await start('api', ['api', '--port', '0']),
    await start('worker-1', ['worker']),
    await start('worker-2', ['worker']),
  ];
}

/** A state folder of its own that knows the images of this machine's. */
async function makeHome(folder: string, name: string): Promise<NodeJS.ProcessEnv> {
  const home = join(folder, name);
  await mkdir(home);
  await copyFile(join(stateFolder(), CATALOGUE), join(home, CATALOGUE));
  return { KERVYXA_HOME: home };
}

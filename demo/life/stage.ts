import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ensureReady, stateFolder } from '@kervyxa/setup';
import { startGitServer } from '@kervyxa/testing';
import { z } from 'zod';
import { buildFixtureRepository, type Fixture } from '../../fixtures/load.ts';

const MAIN = join(import.meta.dirname, '../../apps/cli/src/main.ts');
const CATALOGUE = 'runtimes.json';

export interface StageOptions {
  /** Those whose histories are served. */
  readonly fixtures: readonly Fixture[];
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
  /** The last lines that kervyxa logged, for whoever has to find out what went wrong. */
  lastLines(): readonly string[];
  /** Rejects if kervyxa ends before the stage is closed. */
  readonly ended: Promise<never>;
  /** Stops kervyxa as Ctrl-C does, then everything else. Safe to call twice. */
  close(): Promise<void>;
}

/**
 * Starts `kervyxa up` as a process of its own on a database of its own, with this machine's engine and images. Leaves
 * nothing after a failure.
 */
export async function openStage({ fixtures, signal, log }: StageOptions): Promise<Stage> {
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
    await copyFile(join(stateFolder(), CATALOGUE), join(folder, CATALOGUE));
    const env = {
      ...process.env,
      KERVYXA_HOME: folder,
      KERVYXA_GIT_ALLOW: git.origin,
      KERVYXA_WINDOW_MIN_SECONDS: '1',
      DOCKER_HOST: dockerHost,
      DATABASE_URL: '',
    };
    const daemon = await startDaemon(stack, env, signal);
    return { ...daemon, gitOrigin: git.origin, close: () => stack.disposeAsync() };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

const LAST_LINES = 30;

/** What `kervyxa up --json` says about itself. */
const LineSchema = z.looseObject({
  operatorKey: z.string().optional(),
  listening: z.string().optional(),
});

async function startDaemon(
  stack: AsyncDisposableStack,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<Pick<Stage, 'origin' | 'operatorKey' | 'lastLines' | 'ended'>> {
  const child = spawn(process.execPath, [MAIN, 'up', '--port', '0', '--json'], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    // A terminal's Ctrl-C is for us; kervyxa is stopped once the story has been cleared away.
    detached: true,
  });
  stack.defer(() => stopDaemon(child));
  const lines: string[] = [];
  const keep = (line: string): void => {
    lines.push(line);
    if (lines.length > LAST_LINES) lines.shift();
  };
  createInterface({ input: child.stderr }).on('line', keep);
  const ended = once(child, 'close').then(([code, name]) => {
    throw new Error(`kervyxa ended (${code ?? name}); it said:\n${lines.join('\n')}`);
  });
  const ready = new Promise<{ origin: string; operatorKey: string }>((found) => {
    let operatorKey = '';
    createInterface({ input: child.stdout }).on('line', (line) => {
      keep(line);
      const said = LineSchema.safeParse(parseJson(line));
      operatorKey = said.data?.operatorKey ?? operatorKey;
      const origin = said.data?.listening;
      if (origin !== undefined) found({ origin, operatorKey });
    });
  });
  // Whoever closes the stage ends kervyxa, and is not to be told that it ended.
  ended.catch(() => undefined);
  const stopped = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    if (signal.aborted) reject(signal.reason);
  });
  stopped.catch(() => undefined);
  return { ...(await Promise.race([ready, ended, stopped])), ended, lastLines: () => lines };
}

async function stopDaemon(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, 'close');
  child.kill('SIGTERM');
  await closed;
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

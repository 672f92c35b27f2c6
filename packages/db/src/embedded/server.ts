import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { createDbError } from '../errors.ts';
import { findBinaries } from './binaries.ts';
import { createCluster, SUPERUSER, toStartError } from './create-cluster.ts';
import type { Layout } from './layout.ts';
import { assertReachable, giveTo, serverUser, type ServerUser } from './server-user.ts';

const POLL_MS = 20;
/** A server that was killed first replays its journal. */
const START_TIMEOUT_MS = 300_000;
const STOP_TIMEOUT_MS = 60_000;
const LOG_BYTES_MAX = 10_000_000;

/**
 * A session of the server of that folder, in its database `postgres`; started if it does not run yet. Any number of
 * programs may ask at once: one of their servers wins the data folder, the others end by themselves. The server has a
 * session of its own, so that a Ctrl-C in the terminal does not reach it before us, and outlives the program.
 */
export async function connectServer(layout: Layout, settings: readonly string[]): Promise<Client> {
  const user = serverUser();
  const deadline = performance.now() + START_TIMEOUT_MS;
  let binaries: string | null = null;
  let server: StartedServer | null = null;
  while (performance.now() < deadline) {
    const client = await tryConnect(layout);
    if (client !== null) return client;
    if (server === null && !isAlive(layout)) {
      binaries ??= await prepare(layout, user);
      server = startServer(layout, binaries, user, settings);
    }
    await delay(POLL_MS);
    if (server?.hasEnded() === true) {
      const said = server.output();
      server = null;
      if (!isAlive(layout) && !/lock file .* already exists/.test(said)) throw toStartError(said);
    }
  }
  throw createDbError('DB_EMBEDDED_FAILED', {
    message: `expected the built-in PostgreSQL to answer within ${START_TIMEOUT_MS / 1000} s, got none`,
    fix: `Read ${layout.logFile}.`,
  });
}

/** Fast and clean: open transactions are undone, everything is on disk. Returns once it has ended. */
export async function stopServer(layout: Layout): Promise<void> {
  const pid = readPid(layout);
  if (pid === null) return;
  process.kill(pid, 'SIGINT');
  const deadline = performance.now() + STOP_TIMEOUT_MS;
  while (isAlive(layout)) {
    if (performance.now() > deadline) {
      throw createDbError('DB_EMBEDDED_FAILED', {
        message: `expected the built-in PostgreSQL to stop within ${STOP_TIMEOUT_MS / 1000} s, got none`,
        fix: `Look at process ${pid}; ${layout.logFile} may say more.`,
      });
    }
    await delay(POLL_MS);
  }
}

/** The address of one of its databases. */
export async function urlOf(layout: Layout, database: string): Promise<string> {
  const password = await readFile(layout.passwordFile, 'utf8');
  return `postgresql://${SUPERUSER}:${password}@/${database}?host=${encodeURIComponent(layout.socketFolder)}`;
}

async function tryConnect(layout: Layout): Promise<Client | null> {
  let client: Client | null = null;
  try {
    client = new Client({
      connectionString: await urlOf(layout, 'postgres'),
      application_name: 'kervyxa-embedded',
      options: '-c timezone=UTC',
    });
    await client.connect();
    return client;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null;
    // No folder, no socket, nobody listening, starting up or shutting down.
    if (['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', '57P03'].includes(String(code)))
      return null;
    if (error instanceof Error && error.message.startsWith('Connection terminated')) return null;
    throw error;
  }
}

async function prepare(layout: Layout, user: ServerUser): Promise<string> {
  await mkdir(layout.folder, { recursive: true, mode: user === null ? 0o700 : 0o711 });
  await assertReachable(layout.folder, user);
  await mkdir(layout.socketFolder, { recursive: true, mode: 0o700 });
  await giveTo(user, layout.socketFolder);
  const binaries = await findBinaries(layout.folder, user);
  await createCluster(layout, binaries, user);
  return binaries;
}

interface StartedServer {
  hasEnded(): boolean;
  output(): string;
}

function startServer(
  layout: Layout,
  binaries: string,
  user: ServerUser,
  settings: readonly string[],
): StartedServer {
  removeStalePid(layout);
  const start = logStart(layout);
  const log = openSync(layout.logFile, 'a', 0o600);
  const all = [
    'listen_addresses=',
    `unix_socket_directories=${layout.socketFolder}`,
    'unix_socket_permissions=0700',
    'timezone=UTC',
    'log_timezone=UTC',
    // Refused rows and lost races are the business of the program, which reports them; the file must not grow of them.
    'log_min_messages=fatal',
    ...settings,
  ];
  const child = spawn(
    join(binaries, 'bin/postgres'),
    ['-D', layout.data, ...all.flatMap((setting) => ['-c', setting])],
    {
      ...user,
      cwd: '/',
      env: { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' },
      stdio: ['ignore', log, log],
      detached: true,
    },
  );
  closeSync(log);
  child.unref();
  let problem: string | null = null;
  child.on('error', (error) => {
    problem = error.message;
  });
  return {
    hasEnded: () => problem !== null || child.exitCode !== null || child.signalCode !== null,
    output: () => problem ?? readFileSync(layout.logFile, 'utf8').slice(start),
  };
}

/** Where new words will begin; a file that has grown long begins anew. */
function logStart({ logFile }: Layout): number {
  const size = statSync(logFile, { throwIfNoEntry: false })?.size ?? 0;
  if (size <= LOG_BYTES_MAX) return size;
  rmSync(logFile);
  return 0;
}

function readPid({ pidFile }: Layout): number | null {
  try {
    const pid = Number(readFileSync(pidFile, 'utf8').split('\n')[0]);
    return Number.isSafeInteger(pid) && pid > 1 ? pid : null;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

/** Whether the process that the data folder names is a PostgreSQL: after a restart the number may be another's. */
function isAlive(layout: Layout): boolean {
  const pid = readPid(layout);
  if (pid === null) return false;
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(layout.data);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
}

/** Otherwise the server would take whoever has that number now for its predecessor, and refuse to start. */
function removeStalePid(layout: Layout): void {
  if (readPid(layout) !== null && !isAlive(layout)) rmSync(layout.pidFile, { force: true });
}

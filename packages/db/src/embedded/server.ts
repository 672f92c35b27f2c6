import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { toDbError } from '../driver-errors.ts';
import { createDbError } from '../errors.ts';
import { findBinaries } from './binaries.ts';
import { createCluster, SUPERUSER } from './create-cluster.ts';
import { isErrno } from './errno.ts';
import type { Layout } from './layout.ts';
import { isServer, removeStaleFiles, runningPid } from './process.ts';
import { assertReachable, giveTo, serverUser, type ServerUser } from './server-user.ts';
import { spawnServer } from './spawn-server.ts';
import { isPassing, toFolderError, toStartError } from './start-error.ts';
import { tryStartLock } from './start-lock.ts';

const POLL_MS = 20;
/** A server that was killed first replays its journal. */
const START_TIMEOUT_MS = 300_000;
const STOP_TIMEOUT_MS = 60_000;

/**
 * A session of the folder's server, in its database `postgres`. The server is started if it does not run; any number
 * of programs may ask at once, one of them starts it. Throws DB_EMBEDDED_*.
 */
export async function connectServer(layout: Layout, settings: readonly string[]): Promise<Client> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (performance.now() < deadline) {
    const client = await tryConnect(layout);
    if (client !== null) return client;
    const unlock = await tryStartLock(layout.folder);
    if (unlock === null) {
      await delay(POLL_MS);
      continue;
    }
    try {
      await startServer(layout, settings, deadline);
    } catch (error) {
      throw toFolderError(error, layout);
    } finally {
      await unlock();
    }
  }
  throw createDbError('DB_EMBEDDED_FAILED', {
    message: `expected the built-in PostgreSQL to answer within ${START_TIMEOUT_MS / 1000} s, got none`,
    fix: `Read ${layout.logFile}.`,
  });
}

/** Fast and clean: open transactions are undone, everything is on disk. Returns once it has ended. */
export async function stopServer(layout: Layout): Promise<void> {
  const pid = runningPid(layout);
  if (pid === null) return;
  process.kill(pid, 'SIGINT');
  const deadline = performance.now() + STOP_TIMEOUT_MS;
  while (isServer(pid, layout)) {
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

/** Returns when the server answers, or will be a moment later. */
async function startServer(
  layout: Layout,
  settings: readonly string[],
  deadline: number,
): Promise<void> {
  if (runningPid(layout) !== null) return delay(POLL_MS);
  const user = serverUser();
  const binaries = await prepare(layout, user);
  removeStaleFiles(layout);
  const server = spawnServer(layout, { binaries, user, settings });
  while (performance.now() < deadline) {
    await delay(POLL_MS);
    if (server.hasEnded()) {
      const said = server.output();
      if (isPassing(said)) return;
      throw toStartError(said);
    }
    const client = await tryConnect(layout);
    if (client !== null) return client.end();
  }
}

async function prepare(layout: Layout, user: ServerUser): Promise<string> {
  await mkdir(layout.folder, { recursive: true, mode: user === null ? 0o700 : 0o711 });
  await assertReachable(layout.folder, user);
  await removeHalfMade(layout);
  await mkdir(layout.socketFolder, { recursive: true, mode: 0o700 });
  await giveTo(user, layout.socketFolder);
  const binaries = await findBinaries(layout.folder, user);
  await createCluster(layout, binaries, user);
  return binaries;
}

/** What a start that was killed had not renamed into place yet. */
async function removeHalfMade({ folder }: Layout): Promise<void> {
  for (const name of await readdir(folder)) {
    const pid = /^(?:cluster|postgresql-.*)\.half-(\d+)$/.exec(name)?.[1];
    if (pid !== undefined && !(pid !== String(process.pid) && existsSync(`/proc/${pid}`))) {
      await rm(join(folder, name), { recursive: true, force: true });
    }
  }
}

/** Null where there is no folder, no socket, nobody listening, or a server that starts or stops. */
async function tryConnect(layout: Layout): Promise<Client | null> {
  try {
    const client = new Client({
      connectionString: await urlOf(layout, 'postgres'),
      application_name: 'kervyxa-embedded',
      options: '-c timezone=UTC',
    });
    client.on('error', () => undefined);
    await client.connect();
    return client;
  } catch (error) {
    if (isErrno(error, '28P01')) {
      throw createDbError('DB_EMBEDDED_FAILED', {
        message: `expected the password in ${layout.passwordFile} to be the server's, got another`,
        fix: 'Put the file back as it was, or set KERVYXA_HOME to an empty folder.',
      });
    }
    if (toDbError(error) !== error) return null;
    throw toFolderError(error, layout);
  }
}

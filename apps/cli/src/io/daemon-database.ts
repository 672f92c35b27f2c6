import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createIdSource, isAppError } from '@kervyxa/core';
import { migrateDatabase, openDatabase, type Database } from '@kervyxa/db';
import { stateFolder } from '@kervyxa/setup';
import type { Logger } from 'pino';
import { cliError } from '../errors.ts';
import type { Settings } from '../settings.ts';

const WAIT_MS = 60_000;
const RETRY_MS = 1_000;
/** SQLSTATE classes of what waiting does not mend: login refused, no such database. */
const HOPELESS = /^(28|3D)/;

export interface DaemonDatabaseOptions {
  readonly settings: Pick<Settings, 'databaseUrl' | 'policy'>;
  /** Whether the built-in PostgreSQL may be used where the settings name none. */
  readonly mayEmbed: boolean;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/**
 * The database with its tables up to date. What was opened is closed by the stack, also where a later step fails.
 * Throws CLI_DATABASE_URL_MISSING, DB_*; the signal's reason once it aborts.
 */
export async function openDaemonDatabase(
  stack: AsyncDisposableStack,
  { settings, mayEmbed, log, signal }: DaemonDatabaseOptions,
): Promise<Database> {
  const url = settings.databaseUrl ?? (await embeddedUrl(stack, mayEmbed, log));
  const applied = await patiently(() => migrateDatabase(url), { log, signal });
  if (applied.length > 0) log.info({ migrations: applied.length }, 'tables brought up to date');
  const newId = createIdSource(randomBytes);
  const database = await openDatabase(url, {
    policy: settings.policy,
    newId,
    onProblem: (err) => log.warn({ part: 'database', err }, 'trouble in the background'),
  });
  stack.defer(() => database.close());
  return database;
}

async function embeddedUrl(
  stack: AsyncDisposableStack,
  mayEmbed: boolean,
  log: Logger,
): Promise<string> {
  if (!mayEmbed) {
    throw cliError('CLI_DATABASE_URL_MISSING', {
      message: 'expected DATABASE_URL, got none: this command shares a database with others',
      fix: 'Set DATABASE_URL=postgresql://user:password@host/database, or use "kervyxa up", which brings a database along.',
    });
  }
  const { startEmbedded } = await import('@kervyxa/db/embedded');
  const folder = join(stateFolder(), 'postgres');
  const embedded = await startEmbedded({ folder, log: (message) => log.info({}, message) });
  stack.defer(() => embedded.stop());
  return embedded.url;
}

/** A database that is being started, or moved, is waited for. */
async function patiently<T>(
  attempt: () => Promise<T>,
  { log, signal }: Pick<DaemonDatabaseOptions, 'log' | 'signal'>,
): Promise<T> {
  const deadline = performance.now() + WAIT_MS;
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (!isWorthWaiting(error) || performance.now() > deadline) throw error;
      if (tries === 1)
        log.warn({ err: error }, `waiting up to ${WAIT_MS / 1000} s for the database`);
      await delay(RETRY_MS, null, { signal });
    }
  }
}

function isWorthWaiting(error: unknown): boolean {
  return (
    isAppError(error) &&
    error.code === 'DB_UNAVAILABLE' &&
    !HOPELESS.test(String(error.details['code'] ?? ''))
  );
}

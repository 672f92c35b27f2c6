import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { availableParallelism, hostname } from 'node:os';
import { DEFAULT_API_SETTINGS, startApi } from '@kervyxa/api';
import { createIdSource } from '@kervyxa/core';
import type { Database } from '@kervyxa/db';
import { stateFolder } from '@kervyxa/setup';
import { createWebhookRail, startScheduler, startWorker, type Worker } from '@kervyxa/worker';
import type { Logger } from 'pino';
import type { CommandContext } from '../context.ts';
import type { ListenOptions } from '../daemon-options.ts';
import { toKeyBox } from '../present/key-box.ts';
import { parseSettings, type Settings } from '../settings.ts';
import { VERSION } from '../version.ts';
import { openDaemonDatabase } from './daemon-database.ts';
import { openDaemonSigning } from './daemon-signing.ts';
import { openEngine, type Engine } from './engine.ts';
import { assertListenable, toListenError } from './listen.ts';
import { createLog } from './log.ts';
import { addFirstOperatorKey } from './operator-key.ts';
import { loadSettings } from './settings.ts';

const API_DRAIN_MS = 10_000;
const STILL_WAITING_MS = 10_000;

export interface DaemonOptions {
  /** Null: not in this process. */
  readonly api: ListenOptions | null;
  /** `slots` null: as the CPUs allow. */
  readonly worker: { readonly slots: number | null } | null;
  /** Whether the built-in PostgreSQL may be used. */
  readonly mayEmbed: boolean;
  /** Log in JSON also on a terminal. */
  readonly isJson: boolean;
}

/** What the parts are built on. */
interface Daemon {
  readonly context: CommandContext;
  readonly settings: Settings;
  readonly log: Logger;
  readonly database: Database;
  /** What is to be undone, the last first. */
  readonly stack: AsyncDisposableStack;
}

/**
 * 1. Settings, and whether the address is free. 2. Engine and images, where a worker is wanted. 3. Database, with its
 * tables. 4. The operator's key, at the very first start of an API. 5. Scheduler, worker with its signing key, API. 6. Until a stop signal.
 * 7. All of it back, in reverse order.
 *
 * What was begun is ended also where a later step fails, or a stop signal comes before the fourth. Throws CLI_*, DB_*, SETUP_*.
 */
export async function runDaemon(context: CommandContext, options: DaemonOptions): Promise<void> {
  const { host, interrupts } = context;
  const { signal } = interrupts;
  const settings = parseSettings(host.env);
  if (options.api !== null) await assertListenable(options.api);
  const isJson = options.isJson || !host.stdout.isTerminal;
  const log = createLog(host, isJson);
  const stack = new AsyncDisposableStack();
  try {
    const engine = options.worker === null ? null : await openDaemonEngine(context, settings, log);
    signal.throwIfAborted();
    const { mayEmbed } = options;
    const database = await openDaemonDatabase(stack, { settings, mayEmbed, log, signal });
    // Whoever stops it here sees no key: the next start prints it.
    signal.throwIfAborted();
    if (options.api !== null) await showFirstKey(database, context, isJson);
    const daemon = { context, settings, log, database, stack };
    startDaemonScheduler(daemon);
    if (engine !== null) await startDaemonWorker(daemon, engine, options.worker?.slots ?? null);
    const url = options.api === null ? null : await startDaemonApi(daemon, options.api);
    log.info({ url }, 'ready; Ctrl-C stops it');
    if (!signal.aborted) await once(signal, 'abort');
    context.endsBySignal = true;
  } finally {
    await stack.disposeAsync();
    if (context.endsBySignal) log.info({}, 'stopped');
  }
}

function openDaemonEngine(
  { host, interrupts }: CommandContext,
  { operator, containerRuntime }: Settings,
  log: Logger,
): Promise<Engine> {
  return openEngine({
    clock: host.clock,
    interactive: host.interactive,
    allowedOrigins: operator.allowedOrigins,
    containerRuntime,
    log: (line) => log.info({ part: 'set-up' }, line),
    signal: interrupts.signal,
  });
}

/** Past the log, which knows better than to show a key. */
async function showFirstKey(
  database: Database,
  { host }: CommandContext,
  isJson: boolean,
): Promise<void> {
  const key = await addFirstOperatorKey(database);
  if (key === null) return;
  const msg = 'the operator’s key, shown once; only its hash is stored';
  const line = { level: 'info', time: host.clock.now(), msg, operatorKey: key };
  host.stdout.write(isJson ? `${JSON.stringify(line)}\n` : toKeyBox(key, host.stdout));
}

function startDaemonScheduler({ context, settings, log, database, stack }: Daemon): void {
  const { clock } = context.host;
  const rail = settings.rail === null ? null : createWebhookRail({ ...settings.rail, clock });
  const scheduler = startScheduler({ database, rail, log: log.child({ part: 'scheduler' }) });
  stack.defer(() => scheduler.stop());
}

async function startDaemonWorker(
  daemon: Daemon,
  engine: Engine,
  slots: number | null,
): Promise<void> {
  const { context, settings, log, database, stack } = daemon;
  const { clock } = context.host;
  const { verifierId } = settings;
  const worker = startWorker({
    ...engine,
    proving: settings.proving,
    database,
    settings: loadSettings(context.host),
    signing: await openDaemonSigning(database, { verifierId, clock }),
    clock,
    newId: createIdSource(randomBytes),
    log: log.child({ part: 'worker' }),
    stateFolder: stateFolder(),
    host: hostname(),
    version: VERSION,
    coreCount: availableParallelism(),
    ...(slots !== null && { slots }),
  });
  stack.defer(() => drain(worker, daemon));
}

async function drain(worker: Worker, { context, log }: Daemon): Promise<void> {
  const { host, interrupts } = context;
  const tell = (): void => {
    const { jobs } = worker.state();
    if (jobs > 0) log.info({ jobs }, 'waiting for what runs; Ctrl-C again gives it back');
  };
  interrupts.onSecond(() => void worker.stop());
  tell();
  const silence = host.every(STILL_WAITING_MS, tell);
  await worker.drain();
  silence();
}

/** Where it listens, such as `http://127.0.0.1:8737`. */
async function startDaemonApi(
  { context, settings, log, database, stack }: Daemon,
  options: ListenOptions,
): Promise<string> {
  const api = await startApi(
    {
      database,
      newId: createIdSource(randomBytes),
      clock: context.host.clock,
      randomBytes,
      logger: log.child({ part: 'api' }),
      settings: {
        operator: loadSettings(context.host),
        trustProxy: settings.trustProxy,
        upload: { ...DEFAULT_API_SETTINGS.upload, bytesMax: settings.uploadBytesMax },
      },
    },
    { ...options, drainMs: API_DRAIN_MS },
  ).catch((error: unknown) => {
    throw toListenError(error, options);
  });
  stack.defer(() => api.stop());
  return api.url;
}

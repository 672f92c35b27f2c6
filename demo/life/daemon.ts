import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';

const MAIN = join(import.meta.dirname, '../../apps/cli/src/main.ts');
const LAST_LINES = 30;

/** What a kervyxa says about itself with `--json`. */
const LineSchema = z.looseObject({
  msg: z.string().optional(),
  operatorKey: z.string().optional(),
  url: z.string().nullish(),
});

/** A kervyxa that serves, as a process of its own. */
export interface Daemon {
  /** Of its API; empty where it has none. */
  readonly origin: string;
  /** Empty where it printed none. */
  readonly operatorKey: string;
  /** The last lines that it logged, for whoever has to find out what went wrong. */
  lastLines(): readonly string[];
  /** Rejects once it has ended. */
  readonly ended: Promise<never>;
  /** Stops it as Ctrl-C does. Safe to call twice, and after its end. */
  stop(): Promise<void>;
}

export interface DaemonOptions {
  readonly argv: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

/** Starts it, and has the stack stop it as Ctrl-C does. Rejects where it ends before it serves. */
export async function startDaemon(
  stack: AsyncDisposableStack,
  { argv, env, signal }: DaemonOptions,
): Promise<Daemon> {
  const child = spawn(process.execPath, [MAIN, ...argv, '--json'], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A terminal's Ctrl-C is for us; kervyxa is stopped once the story has been cleared away.
    detached: true,
  });
  // Whoever leaves at once leaves nobody behind.
  const onExit = (): boolean => child.kill('SIGTERM');
  process.once('exit', onExit);
  const stop = async (): Promise<void> => {
    await stopDaemon(child);
    process.off('exit', onExit);
  };
  stack.defer(stop);
  const lines: string[] = [];
  const keep = (line: string): void => {
    lines.push(line);
    if (lines.length > LAST_LINES) lines.shift();
  };
  createInterface({ input: child.stderr }).on('line', keep);
  const ended = once(child, 'close').then(([code, name]) => {
    throw new Error(`kervyxa ${argv[0]} ended (${code ?? name}); it said:\n${lines.join('\n')}`);
  });
  const ready = new Promise<{ origin: string; operatorKey: string }>((found) => {
    let operatorKey = '';
    createInterface({ input: child.stdout }).on('line', (line) => {
      keep(line);
      const said = LineSchema.safeParse(parseJson(line)).data;
      operatorKey = said?.operatorKey ?? operatorKey;
      if (said?.msg?.startsWith('ready;') !== true) return;
      found({ origin: said.url ?? '', operatorKey });
    });
  });
  const stopped = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    if (signal.aborted) reject(signal.reason);
  });
  // Whoever stops it is not to be told that it ended.
  for (const end of [ended, stopped]) end.catch(() => undefined);
  const said = await Promise.race([ready, ended, stopped]);
  return { ...said, ended, stop, lastLines: () => lines };
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

import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Layout } from './layout.ts';
import type { ServerUser } from './server-user.ts';

export interface SpawnedServer {
  hasEnded(): boolean;
  /** What it said since its start. */
  output(): string;
}

export interface SpawnOptions {
  readonly binaries: string;
  readonly user: ServerUser;
  /** `name=value`, besides those that every server has. */
  readonly settings: readonly string[];
}

const LOG_BYTES_MAX = 10_000_000;

/** In a session of its own, so that a Ctrl-C in the terminal does not reach it before us; it outlives the program. */
export function spawnServer(
  layout: Layout,
  { binaries, user, settings }: SpawnOptions,
): SpawnedServer {
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
    output: () => problem ?? readFileSync(layout.logFile).subarray(start).toString('utf8'),
  };
}

/** Where new words will begin; a file that has grown long begins anew. */
function logStart({ logFile }: Layout): number {
  const size = statSync(logFile, { throwIfNoEntry: false })?.size ?? 0;
  if (size <= LOG_BYTES_MAX) return size;
  rmSync(logFile);
  return 0;
}

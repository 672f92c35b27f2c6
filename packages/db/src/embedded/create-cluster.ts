import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createDbError } from '../errors.ts';
import type { Layout } from './layout.ts';
import { giveTo, type ServerUser } from './server-user.ts';
import { toStartError } from './start-error.ts';

export const SUPERUSER = 'kervyxa';
const MAJOR_VERSION = '18';

/**
 * Makes the data folder where there is none, under another name until it is complete: a program that is killed
 * meanwhile leaves nothing half. Throws DB_EMBEDDED_VERSION, DB_EMBEDDED_DISK_FULL, DB_EMBEDDED_FAILED.
 */
export async function createCluster(
  layout: Layout,
  binaries: string,
  user: ServerUser,
): Promise<void> {
  if (existsSync(layout.cluster)) return assertVersion(layout);
  const temporary = `${layout.cluster}.half-${process.pid}`;
  try {
    await mkdir(temporary, { mode: 0o700 });
    const passwordFile = join(temporary, 'password');
    await writeFile(passwordFile, randomBytes(24).toString('hex'), { mode: 0o600 });
    await giveTo(user, passwordFile);
    await giveTo(user, temporary);
    await runInitdb(join(binaries, 'bin/initdb'), join(temporary, 'data'), passwordFile, user);
    await rename(temporary, layout.cluster);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    throw error;
  }
}

async function assertVersion({ data }: Layout): Promise<void> {
  const version = (await readFile(join(data, 'PG_VERSION'), 'utf8')).trim();
  if (version === MAJOR_VERSION) return;
  throw createDbError('DB_EMBEDDED_VERSION', {
    message: `expected data of PostgreSQL ${MAJOR_VERSION}, got data of PostgreSQL ${version} in ${data}`,
    fix: `Start the version of the program that has PostgreSQL ${version} and take a dump, or set KERVYXA_HOME to an empty folder.`,
  });
}

function runInitdb(
  initdb: string,
  data: string,
  passwordFile: string,
  user: ServerUser,
): Promise<void> {
  const args = [
    `--pgdata=${data}`,
    `--username=${SUPERUSER}`,
    `--pwfile=${passwordFile}`,
    '--auth-local=scram-sha-256',
    '--auth-host=reject',
    '--encoding=UTF8',
    // The same order of texts on every machine.
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--no-instructions',
  ];
  const child = spawn(initdb, args, {
    ...user,
    cwd: '/',
    env: { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A Ctrl-C in the terminal is for us: a folder half made would be reported as a failure.
    detached: true,
  });
  const output: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => output.push(chunk));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve();
      else reject(toStartError(Buffer.concat(output).toString('utf8')));
    });
  });
}

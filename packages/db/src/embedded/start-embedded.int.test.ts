import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { layoutOf } from './layout.ts';
import { runningPid } from './process.ts';
import { startEmbedded } from './start-embedded.ts';
import { stopServer } from './server.ts';

const HOLD_SERVER = join(import.meta.dirname, 'testing/hold-server.ts');

// Keeps R-DB-EMBEDDED.
describe('the built-in PostgreSQL', () => {
  let folder: string;
  const log = () => undefined;
  const pidOf = () => runningPid(layoutOf(folder));

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'kervyxa-embedded-'));
    await chmod(folder, 0o711);
  });
  afterEach(async () => {
    await stopServer(layoutOf(folder));
    rmSync(folder, { recursive: true });
  });

  it('keeps its rows over a restart, and leaves no process when it is stopped, twice or not', async () => {
    const first = await startEmbedded({ folder, log });
    await query(first.url, 'CREATE TABLE kept AS SELECT 42 AS value');
    const pid = pidOf();
    await Promise.all([first.stop(), first.stop()]);
    expect(() => process.kill(pid ?? 0, 0)).toThrow(/ESRCH/);

    const second = await startEmbedded({ folder, log });
    expect(await query(second.url, 'SELECT value FROM kept')).toEqual([{ value: 42 }]);
    // A session of its own: Ctrl-C in our terminal does not reach it.
    expect(sessionOf(pidOf())).toBe(pidOf());
    expect(await query(second.url, 'SHOW fsync')).toEqual([{ fsync: 'on' }]);
    expect(await query(second.url, 'SHOW timezone')).toEqual([{ TimeZone: 'UTC' }]);
    expect(await query(second.url, 'SHOW listen_addresses')).toEqual([{ listen_addresses: '' }]);
    await second.stop();
  });

  it('is shared by programs that start at once on an empty folder; the last one stops it', async () => {
    const [other, mine] = await Promise.all([holdServer(folder), startEmbedded({ folder, log })]);
    const pid = pidOf();
    await mine.stop();
    expect(pidOf()).toBe(pid);
    await release(other);
    expect(pidOf()).toBe(null);
  });

  it('is found again after kill -9 of the program, which it outlives', async () => {
    const killed = await holdServer(folder);
    const pid = pidOf();
    killed.kill('SIGKILL');
    await once(killed, 'exit');
    const found = await startEmbedded({ folder, log });
    expect(pidOf()).toBe(pid);
    await found.stop();
    expect(pidOf()).toBe(null);
  });

  it('comes back after kill -9 of the server, with every row that was acknowledged', async () => {
    const { promise: runsAgain, resolve } = Promise.withResolvers<void>();
    const embedded = await startEmbedded({
      folder,
      log: (message) => (message === 'PostgreSQL runs again' ? resolve() : undefined),
    });
    await query(embedded.url, 'CREATE TABLE kept AS SELECT 42 AS value');
    process.kill(pidOf() ?? 0, 'SIGKILL');
    await runsAgain;
    expect(await query(embedded.url, 'SELECT value FROM kept')).toEqual([{ value: 42 }]);
    await embedded.stop();
    expect(pidOf()).toBe(null);
  });

  it('starts over what a killed start left: a half-made folder, and a number that is another’s now', async () => {
    const half = join(folder, 'cluster.half-4194303');
    mkdirSync(half);
    const first = await startEmbedded({ folder, log });
    expect(() => statSync(half)).toThrow(/ENOENT/);
    await first.stop();

    writeFileSync(layoutOf(folder).pidFile, `${process.ppid}\n`);
    const second = await startEmbedded({ folder, log });
    await second.stop();
    expect(pidOf()).toBe(null);
  });

  it('lets nobody in without the password, which only its user can read, nor through the socket’s folder', async () => {
    const embedded = await startEmbedded({ folder, log });
    const { passwordFile, socketFolder } = layoutOf(folder);
    expect(statSync(passwordFile).mode & 0o777).toBe(0o600);
    expect(statSync(socketFolder).mode & 0o777).toBe(0o700);
    const guessed = embedded.url.replace(readFileSync(passwordFile, 'utf8'), 'guessed');
    await expect(query(guessed, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
    await embedded.stop();
  });

  it('refuses data of another major version, and touches nothing', async () => {
    const embedded = await startEmbedded({ folder, log });
    await embedded.stop();
    const versionFile = join(layoutOf(folder).data, 'PG_VERSION');
    writeFileSync(versionFile, '17\n');
    await expect(startEmbedded({ folder, log })).rejects.toMatchObject({
      code: 'DB_EMBEDDED_VERSION',
    });
    expect(readFileSync(versionFile, 'utf8')).toBe('17\n');
  });

  it('refuses a folder that is no folder', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    await expect(startEmbedded({ folder: file, log })).rejects.toMatchObject({
      code: 'DB_EMBEDDED_UNSUPPORTED',
    });
  });
});

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

/** The number of the session that a process belongs to. */
function sessionOf(pid: number | null): number {
  const afterName = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1] ?? '';
  return Number(afterName.split(' ')[3]);
}

/** Another program that uses the server. */
async function holdServer(folder: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [HOLD_SERVER, folder], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return child;
}

async function release(child: ChildProcess): Promise<void> {
  child.stdin?.end();
  await once(child, 'exit');
}

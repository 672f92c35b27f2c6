import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { startEmbedded, type EmbeddedDatabase } from '@kervyxa/db/embedded';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { runCliProcess, startCli, type CliProcess } from '../testing/cli-process.ts';
import { openTemporaryHome, type TemporaryHome } from '../testing/temporary-home.ts';

const LineSchema = z.looseObject({
  operatorKey: z.string().optional(),
  url: z.string().nullish(),
});

let home: TemporaryHome;
const running = new Set<CliProcess>();
beforeEach(async () => {
  home = await openTemporaryHome();
});
afterEach(async () => {
  for (const each of running) each.kill('SIGKILL');
  await Promise.all([...running].map(({ ended }) => ended));
  running.clear();
  // What a killed process left running is found again, and stopped.
  if (existsSync(join(home.folder, 'postgres'))) await (await embedded()).stop();
  home.close();
});

function embedded(): Promise<EmbeddedDatabase> {
  return startEmbedded({ folder: join(home.folder, 'postgres'), log: () => undefined });
}

/** There as long as a PostgreSQL runs in the home. */
function pidFile(): string {
  return join(home.folder, 'postgres/cluster/data/postmaster.pid');
}

function start(argv: readonly string[], env: Readonly<Record<string, string>> = {}): CliProcess {
  const started = startCli(argv, { env: { ...home.env, ...env } });
  running.add(started);
  return started;
}

/** Waits until it serves; the address and the key that it printed, if any. */
async function served(daemon: CliProcess): Promise<{ url: string; key: string | null }> {
  await daemon.says('"ready; Ctrl-C stops it"', 'stdout');
  const lines = daemon.stdout
    .trim()
    .split('\n')
    .map((line) => LineSchema.parse(JSON.parse(line)));
  const find = (name: 'operatorKey' | 'url') =>
    lines.map((line) => line[name]).find((value) => typeof value === 'string') ?? null;
  return { url: find('url') ?? '', key: find('operatorKey') };
}

async function whoIs(url: string, key: string | null): Promise<unknown> {
  const response = await fetch(`${url}/v1/me`, { headers: { authorization: `Bearer ${key}` } });
  return response.json();
}

async function stopped(daemon: CliProcess) {
  daemon.kill('SIGTERM');
  const end = await daemon.ended;
  running.delete(daemon);
  return end;
}

/** Asks again until the status comes; the deadline is the test's. */
async function answers(url: string, status: number): Promise<void> {
  for (;;) {
    const got = await fetch(url).then(
      (response) => response.status,
      () => 0,
    );
    if (got === status) return;
    await new Promise((later) => setTimeout(later, 50));
  }
}

const UP = ['up', '--port', '0', '--json'];

// Keeps R-DAEMON-NOTHING.
describe('kervyxa up', () => {
  it('needs nothing: it prints the operator’s key at the first start and never again', async () => {
    const first = start(UP);
    const { url, key } = await served(first);
    expect(await whoIs(url, key)).toMatchObject({ name: 'operator', roles: ['operator'] });
    const more = await runCliProcess(['operator-key', '--json'], { env: home.env });
    const { operatorKey } = JSON.parse(more.stdout);
    expect(operatorKey).not.toBe(key);
    expect(await whoIs(url, operatorKey)).toMatchObject({ roles: ['operator'] });
    expect(await stopped(first)).toMatchObject({ exitCode: 0, stderr: '' });
    expect(existsSync(pidFile())).toBe(false);

    const second = start(UP);
    const again = await served(second);
    expect(again.key).toBeNull();
    expect(await whoIs(again.url, key)).toMatchObject({ roles: ['operator'] });
    await stopped(second);
  });

  // Keeps R-EVIDENCE-KEYS.
  it('has the key of its worker rotated while it runs, and does not start with one that is retired', async () => {
    const daemon = start(UP);
    const { url } = await served(daemon);
    const keys = async (): Promise<{ kid: string; retired: string | null }[]> => {
      const answer = await fetch(`${url}/.well-known/kervyxa-keys.json`);
      return ((await answer.json()) as { keys: { kid: string; retired: string | null }[] }).keys;
    };
    const workerKey = (...words: string[]) =>
      runCliProcess(['worker-key', ...words], { env: home.env });
    const [first] = await keys();
    const rotated = await workerKey('rotate');
    const [old, next] = await keys();
    expect(rotated).toMatchObject({
      exitCode: 0,
      stdout: `${next?.kid} signs from now on\n${first?.kid} is retired\n`,
    });
    expect([old, next]).toMatchObject([
      { kid: first?.kid, retired: expect.any(String) },
      { retired: null },
    ]);
    // The old private half is gone, the new one its owner's alone.
    const folder = join(home.folder, 'signing-keys');
    const secret = `${next?.kid}.pem`;
    expect(readdirSync(folder).filter((name) => name.endsWith('.pem'))).toEqual([secret]);
    expect(statSync(join(folder, secret)).mode & 0o777).toBe(0o600);

    expect(await workerKey('retire', next?.kid ?? '')).toMatchObject({ exitCode: 0 });
    const twice = await workerKey('retire', next?.kid ?? '');
    expect(twice).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('CLI_WORKER_KEY_UNKNOWN'),
    });
    await stopped(daemon);
    const again = await start(UP).ended;
    expect(again).toMatchObject({
      exitCode: 4,
      stderr: expect.stringContaining('DB_SIGNING_KEY_RETIRED'),
    });
  });

  it('C34 is told to use a container runtime that the engine lacks: neither starts nor is well', async () => {
    const env = { ...home.env, KERVYXA_CONTAINER_RUNTIME: 'no-such-runtime' };
    const up = await runCliProcess(UP, { env });
    expect(up.exitCode).toBe(4);
    expect(up.stderr).toContain('SANDBOX_RUNTIME_UNAVAILABLE');
    const doctor = await runCliProcess(['doctor', '--json'], { env });
    expect(doctor.exitCode).toBe(1);
    const { checks }: { checks: { status: string; expected: string }[] } = JSON.parse(
      doctor.stdout,
    );
    expect(checks.filter(({ status }) => status === 'fail')).toMatchObject([
      { expected: 'the runtime of KERVYXA_CONTAINER_RUNTIME' },
    ]);
  });

  it('gets Ctrl-C while it makes its database: no error, and the next start has the key', async () => {
    const first = start(UP);
    const half = join(home.folder, 'postgres');
    while (!existsSync(half) || !readdirSync(half).some((name) => name.includes('.half-'))) {
      await new Promise((later) => setTimeout(later, 5));
    }
    first.kill('SIGINT');
    const end = await first.ended;
    expect(end).toMatchObject({ exitCode: 130, stderr: '' });
    expect(end.stdout).not.toContain('operatorKey');
    expect(existsSync(pidFile())).toBe(false);
    expect((await served(start(UP))).key).toMatch(/^kvx_/);
  });

  it('was killed: the next start finds its database again', async () => {
    const killed = start(UP);
    const { key } = await served(killed);
    killed.kill('SIGKILL');
    await killed.ended;
    const next = await served(start(UP));
    expect(await whoIs(next.url, key)).toMatchObject({ name: 'operator' });
  });

  it('has its database killed: it starts it again, and goes on', async () => {
    const daemon = start(UP);
    const { url, key } = await served(daemon);
    const [pid = ''] = readFileSync(pidFile(), 'utf8').split('\n');
    process.kill(Number(pid), 'SIGKILL');
    await daemon.says('PostgreSQL runs again', 'stdout');
    await answers(`${url}/readyz`, 200);
    expect(await whoIs(url, key)).toMatchObject({ name: 'operator' });
    expect(await stopped(daemon)).toMatchObject({ exitCode: 0 });
    expect(existsSync(pidFile())).toBe(false);
  });

  it('has no port to listen on: one clear line, before anything is begun', async () => {
    const other = createServer();
    await new Promise<void>((listening) => other.listen(0, '127.0.0.1', listening));
    const address = other.address();
    const port = typeof address === 'object' && address !== null ? String(address.port) : '';
    const end = await start(['up', '--port', port, '--json']).ended;
    other.close();
    expect(end).toMatchObject({ exitCode: 4, stdout: '' });
    expect(end.stderr).toMatch(
      /^error CLI_LISTEN_FAILED: expected to listen on 127\.0\.0\.1 port \d+, got EADDRINUSE: [^\n]+\nfix: [^\n]+--port\.\n$/,
    );
    expect(existsSync(pidFile())).toBe(false);
  });
});

describe('kervyxa api and worker', () => {
  it.each(['api', 'worker'])('%s asks for DATABASE_URL', async (command) => {
    const end = await runCliProcess([command], { env: home.env });
    expect(end).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(/^error CLI_DATABASE_URL_MISSING: /),
    });
  });

  it('wait for a database that does not answer yet, and can be stopped meanwhile', async () => {
    const url = 'postgresql://nobody@127.0.0.1:1/none';
    const daemon = start(['api', '--port', '0', '--json'], { DATABASE_URL: url });
    await daemon.says('waiting up to 60 s', 'stdout');
    daemon.kill('SIGINT');
    expect(await daemon.ended).toMatchObject({ exitCode: 130 });
  });

  it('say at once that a database refuses the login', async () => {
    const database = await embedded();
    const url = database.url.replace(/:[^:@/]+@/, ':wrong@');
    const end = await start(['api', '--port', '0', '--json'], { DATABASE_URL: url }).ended;
    await database.stop();
    expect(end.exitCode).toBe(4);
    expect(end.stderr).toMatch(/^error DB_UNAVAILABLE: [^\n]+28P01/);
  });

  it('go on after the database was restarted', async () => {
    const database = await embedded();
    const env = { DATABASE_URL: database.url };
    const api = start(['api', '--port', '0', '--json'], env);
    const worker = start(['worker', '--json'], env);
    const { url, key } = await served(api);
    await worker.says('"ready; Ctrl-C stops it"', 'stdout');
    await database.stop();
    await answers(`${url}/readyz`, 503);
    const again = await embedded();
    await answers(`${url}/readyz`, 200);
    expect(await whoIs(url, key)).toMatchObject({ name: 'operator' });
    expect(await stopped(worker)).toMatchObject({ exitCode: 0 });
    expect(await stopped(api)).toMatchObject({ exitCode: 0 });
    await again.stop();
  });
});

import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCliProcess, startCli } from '../testing/cli-process.ts';

// Keeps R-CLI-CODES, R-CLI-STOP.

let root = '';
let lockfile = '';
let env: Record<string, string> = {};
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'kervyxa-deps-int-'));
  mkdirSync(join(root, 'tmp'));
  mkdirSync(join(root, 'out'));
  lockfile = join(root, 'package-lock.json');
  env = { TMPDIR: join(root, 'tmp'), npm_config_fetch_retries: '0' };
});
afterEach(() => rmSync(root, { recursive: true }));

function lock(name: string, version: string, integrity: string): void {
  const packages = { '': {}, [`node_modules/${name}`]: { version, integrity } };
  writeFileSync(lockfile, JSON.stringify({ lockfileVersion: 3, packages }));
}

const pack = (...more: string[]) =>
  `deps pack --lockfile ${lockfile} -o ${join(root, 'out/deps.tar')}`.split(' ').concat(more);

/** Of ours; npm keeps compiled code of its own there. */
const temporaryFiles = () =>
  readdirSync(join(root, 'tmp')).filter((name) => name.startsWith('kervyxa-'));

async function serve(listener: Parameters<typeof createServer>[1]): Promise<[Server, string]> {
  const server = createServer(listener ?? (() => undefined));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return [server, `http://127.0.0.1:${(server.address() as AddressInfo).port}/`];
}

describe('kervyxa deps pack', () => {
  it('packs a real package with this machine’s npm, and tells the same digest again', async () => {
    lock(
      'is-number',
      '6.0.0',
      'sha512-Wu1VHeILBK8KAWJUAiSZQX94GmOE45Rg6/538fKwiloUu21KncEkYGPqob2oSZ5mUT73vLGrHQjKw3KMPwfDzg==',
    );
    const first = await runCliProcess(pack('--json'), { env });
    const again = await runCliProcess(pack('--json'), { env });
    expect(first).toMatchObject({ exitCode: 0, stderr: 'fetching 1 package\n' });
    expect(again.stdout).toBe(first.stdout);
    expect(JSON.parse(first.stdout)).toMatchObject({
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      packages: [{ kind: 'npm', name: 'is-number', version: '6.0.0' }],
    });
    expect(readdirSync(join(root, 'out'))).toEqual(['deps.tar']);
    expect(temporaryFiles()).toEqual([]);
  });

  it('stopped by Ctrl-C while a registry does not answer ends with 130 and leaves nothing', async () => {
    const asked = Promise.withResolvers<void>();
    const [server, url] = await serve(() => asked.resolve());
    try {
      lock('nobody', '1.0.0', `sha512-${'A'.repeat(86)}==`);
      const cli = startCli(pack(), { env: { ...env, npm_config_registry: url } });
      await asked.promise;
      cli.kill('SIGINT');
      expect(await cli.ended).toEqual({
        exitCode: 130,
        stdout: '',
        stderr: 'fetching 1 package\nSIGINT: removing what was begun\n',
      });
      expect(readdirSync(join(root, 'out'))).toEqual([]);
      expect(temporaryFiles()).toEqual([]);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  it('tells what a registry did in two lines, with the exit code of whose fault it is', async () => {
    const answers = [404, 500];
    const [server, url] = await serve((_, response) => {
      response.writeHead(answers.shift() ?? 500).end();
    });
    try {
      lock('nobody', '1.0.0', `sha512-${'A'.repeat(86)}==`);
      const missing = await runCliProcess(pack(), { env: { ...env, npm_config_registry: url } });
      const broken = await runCliProcess(pack(), { env: { ...env, npm_config_registry: url } });
      const lines = (code: string) =>
        new RegExp(`^fetching 1 package\nerror ${code}: [^\n]+\nfix: [^\n]+\n$`);
      expect(missing).toMatchObject({
        exitCode: 2,
        stderr: expect.stringMatching(lines('DEPS_NOT_FOUND')),
      });
      expect(broken).toMatchObject({
        exitCode: 4,
        stderr: expect.stringMatching(lines('DEPS_REGISTRY_UNAVAILABLE')),
      });
      expect(readdirSync(join(root, 'out'))).toEqual([]);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});

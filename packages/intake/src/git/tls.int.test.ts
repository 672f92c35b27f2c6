import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createServer, type Server } from 'node:tls';
import { promisify } from 'node:util';
import { buildRepository } from '@kervyxa/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createWorld, type World } from './testing/harness.ts';

const FETCH_ONCE = join(import.meta.dirname, 'testing/fetch-once.ts');
let world: World;
let server: Server;
let port: number;
let ids: { readonly base: string; readonly fix: string };
let certificate: string;

beforeAll(async () => {
  world = await createWorld();
  ids = await buildRepository(join(world.repositories, 'main.git'), {
    commits: [
      { name: 'base', files: { 'a.txt': '1\n' } },
      { name: 'fix', parents: ['base'], files: { 'a.txt': '2\n' } },
    ],
  });
  certificate = join(world.root, 'certificate.pem');
  const key = join(world.root, 'key.pem');
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const argv = [
    'req',
    '-x509',
    '-days',
    '2',
    ...kind,
    ...names,
    '-keyout',
    key,
    '-out',
    certificate,
  ];
  await promisify(execFile)('openssl', argv);
  const inner = new URL(world.server.origin);
  server = createServer(
    { key: await readFile(key), cert: await readFile(certificate) },
    (socket) => {
      const plain = connect(Number(inner.port), inner.hostname);
      const end = (): void => {
        socket.destroy();
        plain.destroy();
      };
      socket.on('error', end).pipe(plain).on('error', end).pipe(socket);
    },
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  port = address !== null && typeof address === 'object' ? address.port : 0;
});

afterAll(async () => {
  server.close();
  await world.close();
});

/** Fetches in a process of its own: what a process trusts is set when it starts. */
async function fetchWith(host: string, variables: Record<string, string>): Promise<string> {
  const origin = `https://${host}:${port}`;
  const cache = join(world.root, `cache-${crypto.randomUUID()}`);
  const argv = [FETCH_ONCE, cache, origin, `${origin}/main.git`, ids.base, ids.fix];
  const env = { PATH: process.env['PATH'], NODE_NO_WARNINGS: '1', ...variables };
  const child = spawn(process.execPath, argv, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  return text(child.stdout);
}

it('has a certificate for its name from an authority that the host trusts: fetched over TLS', async () => {
  expect(await fetchWith('localhost', { NODE_EXTRA_CA_CERTS: certificate })).toBe('fetched 1\n');
});

it.each([
  ['signs its certificate itself', 'localhost', {}, 'SELF_SIGNED'],
  [
    'signs its certificate itself, on a host that was told not to mind',
    'localhost',
    { NODE_TLS_REJECT_UNAUTHORIZED: '0', GIT_SSL_NO_VERIFY: '1' },
    'SELF_SIGNED',
  ],
  ['has the certificate of another name', '127.0.0.1', { trust: 'it' }, 'ALTNAME'],
])('G04 %s: REPOSITORY_UNREACHABLE', async (_attack, host, variables, code) => {
  const { trust, ...more } = variables as Record<string, string>;
  const env = trust === undefined ? more : { NODE_EXTRA_CA_CERTS: certificate };
  expect(await fetchWith(host, env)).toMatch(new RegExp(`^unavailable .*${code}`));
});

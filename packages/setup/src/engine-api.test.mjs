import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Engine, parseDockerHost } from './engine-api.mjs';

describe('DOCKER_HOST', () => {
  it.each([
    ['unix:///run/docker.sock', {}, { socketPath: '/run/docker.sock', tls: false }],
    ['tcp://10.0.0.1', {}, { host: '10.0.0.1', port: 2375, tls: false }],
    ['tcp://engine:4243', { DOCKER_TLS_VERIFY: '1' }, { host: 'engine', port: 4243, tls: true }],
    ['tcp://[::1]:99', {}, { host: '::1', port: 99, tls: false }],
    ['https://engine', {}, { host: 'engine', port: 2376, tls: true }],
  ])('%s is understood', (dockerHost, env, address) => {
    expect(parseDockerHost(dockerHost, env)).toEqual(address);
  });

  it.each(['', 'unix://', 'unix://relative', 'ssh://me@host', 'tcp://a:b@host', 'engine'])(
    '%j is refused',
    (dockerHost) => {
      expect(() => parseDockerHost(dockerHost, {})).toThrow(
        expect.objectContaining({ code: 'SETUP_ENGINE_ADDRESS_INVALID' }),
      );
    },
  );
});

async function* endless() {
  for (;;) yield Buffer.alloc(65_536);
}

describe('an engine', () => {
  /** @type {string} */
  let folder;
  /** @type {http.Server} */
  let server;
  /** @type {Engine} */
  let engine;
  /** @type {http.RequestListener} */
  let answer;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'kervyxa-engine-'));
    const socket = join(folder, 's');
    server = http.createServer((request, response) => answer(request, response));
    await new Promise((resolve) => server.listen(socket, () => resolve(undefined)));
    engine = new Engine(`unix://${socket}`, {});
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true });
  });

  it('that says no is quoted', async () => {
    answer = (_, response) => response.writeHead(500).end('{"message":"no\\nspace"}');
    await expect(engine.readJson('/info')).rejects.toMatchObject({
      code: 'SETUP_ENGINE_REFUSED',
      message: expect.stringContaining('GET /info: HTTP 500: no space'),
    });
  });

  it('that fails late, inside its stream, has failed', async () => {
    answer = (_, response) => response.end('{"status":"a"}\n{"error":"unexpected EOF"}\n');
    const lines = /** @type {unknown[]} */ ([]);
    const work = engine.readLines('/images/load', { onLine: (line) => lines.push(line) });
    await expect(work).rejects.toMatchObject({
      message: expect.stringContaining('unexpected EOF'),
    });
    expect(lines).toEqual([{ status: 'a' }]);
  });

  it('that dies while it answers has failed', async () => {
    answer = (_, response) => response.write('{"status":"a"}\n', () => response.destroy());
    const work = engine.readLines('/images/load', { onLine: () => undefined });
    await expect(work).rejects.toMatchObject({ code: 'SETUP_ENGINE_REFUSED' });
  });

  it('that dies while it is sent a stream has failed', async () => {
    answer = (request) => request.once('data', () => request.destroy());
    const work = engine.readLines('/images/load', { body: endless(), onLine: () => undefined });
    await expect(work).rejects.toMatchObject({ code: 'SETUP_ENGINE_REFUSED' });
  });

  it('that accepts and never answers is silent', async () => {
    answer = () => undefined;
    expect(await engine.silence(50)).toBe('no answer within 0.05 s');
  });

  it('that is no engine but some other server is silent', async () => {
    answer = (_, response) => response.writeHead(404).end('nothing here');
    expect(await engine.silence(1_000)).toBe('HTTP status 404');
  });

  it('that lacks a thing gives null for it', async () => {
    answer = (_, response) => response.writeHead(404).end('{"message":"No such image"}');
    expect(await engine.findJson('/images/x/json')).toBeNull();
  });
});

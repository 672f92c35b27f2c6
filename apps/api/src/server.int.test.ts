import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { createIdSource, systemClock } from '@kervyxa/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startApi, type RunningApi } from './server.ts';
import { createWorld, type World } from './testing/world.ts';

let world: World;
let api: RunningApi;

beforeEach(async () => {
  world = await createWorld();
  api = await start(0);
});

afterEach(async () => {
  await api.stop();
  await world.close();
});

function start(port: number, drainMs = 10_000): Promise<RunningApi> {
  return startApi(
    {
      database: world.database,
      newId: createIdSource(randomBytes),
      clock: systemClock,
      randomBytes,
    },
    { host: '127.0.0.1', port, drainMs },
  );
}

/** A connection on which bytes are sent by hand; `ended` has all that came. */
async function talk(text: string) {
  const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
  await new Promise((resolve) => socket.once('connect', resolve));
  let answer = '';
  socket.setEncoding('utf8');
  socket.on('data', (piece: string) => (answer += piece));
  const ended = new Promise<string>((resolve) => socket.once('close', () => resolve(answer)));
  socket.on('error', () => undefined);
  socket.write(text);
  return { socket, ended };
}

// Keeps R-API-STREAM.
describe('a running API', () => {
  it('answers at its address, and says so where the port is taken', async () => {
    const health = await fetch(`${api.url}/healthz`);
    expect(await health.json()).toEqual({ ok: true });
    const port = Number(new URL(api.url).port);
    await expect(start(port)).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });

  it('stops while a client keeps its connection, has sent nothing yet, or watches', async () => {
    const kept = await talk('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n');
    const silent = await talk('');
    const id = await world.openContract();
    const watching = await talk(
      `GET /v1/contracts/${id}/events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${world.people.solver.key}\r\n\r\n`,
    );
    await new Promise((resolve) => watching.socket.once('data', resolve));
    await api.stop();
    expect(await kept.ended).toMatch(/^HTTP\/1\.1 200 /);
    expect(await silent.ended).toBe('');
    expect(await watching.ended).toMatch(/^HTTP\/1\.1 200 /);
    await expect(fetch(`${api.url}/healthz`)).rejects.toThrow('fetch failed');
  });

  it('lets a request that is under way finish before it stops', async () => {
    const body = JSON.stringify({
      principalId: world.people.solver.id,
      amountMinor: '5',
      currency: 'USD',
      reference: 'last',
    });
    const { socket, ended } = await talk(
      `POST /v1/deposits HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${world.people.operator.key}\r\n` +
        `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body.slice(0, 10)}`,
    );
    await expect.poll(() => socket.bytesWritten).toBeGreaterThan(100);
    await fetch(`${api.url}/healthz`, { headers: { connection: 'close' } });
    const stopping = api.stop();
    socket.write(body.slice(10));
    expect(await ended).toMatch(/^HTTP\/1\.1 201 /);
    await stopping;
  });

  it('stops for a client that never finishes, too, and as often as it is asked', async () => {
    await api.stop();
    api = await start(0, 100);
    const { ended } = await talk('POST /v1/deposits HTTP/1.1\r\nhost: x\r\ncontent-le');
    await Promise.all([api.stop(), api.stop()]);
    expect(await ended).toBe('');
  });
});

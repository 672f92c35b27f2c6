import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createWorld, type World } from '../testing/world.ts';

let world: World;

afterEach(async () => world.close());

async function listen(): Promise<number> {
  await world.app.listen({ host: '127.0.0.1', port: 0 });
  const address = world.app.server.address();
  if (address === null || typeof address === 'string') throw new Error('expected a port');
  return address.port;
}

/** Sends bytes as they are and reads until the server ends the connection. */
function raw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let answer = '';
    socket.setEncoding('utf8');
    socket.on('data', (piece: string) => (answer += piece));
    socket.on('end', () => resolve(answer));
    socket.on('error', reject);
    socket.write(text);
  });
}

// Keeps R-API-STRICT.
describe('limits of rate', () => {
  it('asks more often than the operator allows: 429 with the time to wait, for that key only', async () => {
    world = await createWorld({ settings: { requestsPerWindowMax: 3 } });
    const { ask, people } = world;
    const answers = [];
    for (let count = 0; count < 4; count += 1)
      answers.push(await ask(people.solver, 'GET', '/v1/me'));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect(answers.map(({ headers }) => headers['ratelimit-remaining'])).toEqual([
      '2',
      '1',
      '0',
      '0',
    ]);
    expect(answers[3]).toMatchObject({ code: 'API_RATE_EXCEEDED' });
    expect(Number(answers[3]?.headers['retry-after'])).toBeGreaterThan(0);
    expect((await ask(people.otherSolver, 'GET', '/v1/me')).status).toBe(200);
  });

  it('guesses keys: the address is stopped, and a right guess is not even looked up then', async () => {
    world = await createWorld({ settings: { strangerRequestsPerWindowMax: 3 } });
    const { ask, people } = world;
    const codes = [];
    for (let count = 0; count < 4; count += 1) {
      const guess = { id: '', key: `kvx_${String(count).repeat(43)}` };
      codes.push((await ask(guess, 'GET', '/v1/me')).code);
    }
    codes.push((await ask(people.solver, 'GET', '/v1/me')).code);
    expect(codes).toEqual([
      'API_KEY_UNKNOWN',
      'API_KEY_UNKNOWN',
      'API_KEY_UNKNOWN',
      'API_RATE_EXCEEDED',
      'API_RATE_EXCEEDED',
    ]);
    expect((await ask(null, 'GET', '/healthz')).status).toBe(200);
  });

  it('claims another address each time: what counts is the one that the proxy adds, if there is one', async () => {
    for (const trustProxy of [false, true]) {
      const settings = { strangerRequestsPerWindowMax: 1, trustProxy };
      world = await createWorld({ settings });
      const codes = [];
      for (const claimed of ['6.6.6.1', '6.6.6.2']) {
        const headers = { 'x-forwarded-for': `${claimed}, 203.0.113.7` };
        codes.push((await world.ask(null, 'GET', '/v1/me', undefined, headers)).code);
      }
      const other = { 'x-forwarded-for': '203.0.113.8' };
      codes.push((await world.ask(null, 'GET', '/v1/me', undefined, other)).code);
      expect(codes).toEqual([
        'API_KEY_MISSING',
        'API_RATE_EXCEEDED',
        trustProxy ? 'API_KEY_MISSING' : 'API_RATE_EXCEEDED',
      ]);
      if (!trustProxy) await world.close();
    }
  });

  it('is revoked: the key is worth nothing once it is no longer trusted', async () => {
    world = await createWorld();
    const { ask, people, revoke } = world;
    expect((await ask(people.solver, 'GET', '/v1/me')).status).toBe(200);
    await revoke(people.solver);
    const answer = await ask(people.solver, 'GET', '/v1/me');
    expect(answer).toMatchObject({ status: 401, code: 'API_KEY_UNKNOWN' });
    expect(answer.headers['www-authenticate']).toBe('Bearer realm="kervyxa"');
  });
});

describe('limits of HTTP', () => {
  it('sends half a body and waits: 408, and the connection is closed', async () => {
    world = await createWorld({
      settings: { requestTimeoutMs: 200, headersTimeoutMs: 200, timeoutCheckMs: 50 },
    });
    const port = await listen();
    const answer = await raw(
      port,
      `POST /v1/deposits HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${world.people.operator.key}\r\n` +
        'content-type: application/json\r\ncontent-length: 100\r\n\r\n{"principalId":',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(answer).toContain('"code":"API_REQUEST_TIMEOUT"');
  });

  it('sends half a header and waits: the same', async () => {
    world = await createWorld({
      settings: { requestTimeoutMs: 200, headersTimeoutMs: 200, timeoutCheckMs: 50 },
    });
    expect(await raw(await listen(), 'GET /v1/me HTTP/1.1\r\nhost: x\r\nauth')).toContain(
      '"code":"API_REQUEST_TIMEOUT"',
    );
  });

  it('sends headers without end, or no HTTP at all: told so as a problem', async () => {
    world = await createWorld();
    const port = await listen();
    const long = await raw(port, `GET / HTTP/1.1\r\nhost: x\r\nx: ${'a'.repeat(20_000)}\r\n\r\n`);
    expect(long).toMatch(/^HTTP\/1\.1 431 /);
    expect(long).toContain('"code":"API_HEADERS_TOO_LARGE"');
    const noise = await raw(port, '\u0016\u0003\u0001 hello\r\n\r\n');
    expect(noise).toMatch(/^HTTP\/1\.1 400 /);
    expect(noise).toContain('"code":"API_REQUEST_MALFORMED"');
  });

  it('smuggles a second request behind two lengths: refused', async () => {
    world = await createWorld();
    const answer = await raw(
      await listen(),
      'POST /v1/me HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    );
    expect(answer).toContain('"code":"API_REQUEST_MALFORMED"');
  });

  it('sends a body that nobody will read: answered at once, and the connection is closed', async () => {
    world = await createWorld();
    const answer = await raw(
      await listen(),
      'POST /v1/contracts HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 401 /);
    expect(answer.toLowerCase()).toContain('connection: close');
  });
});

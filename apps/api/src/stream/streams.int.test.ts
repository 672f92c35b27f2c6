import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connect, type Socket } from 'node:net';
import { SECRET } from '../testing/sample-contract.ts';
import { z } from 'zod';
import { createWorld, PROVING_SECRET, type Person, type World } from '../testing/world.ts';
import type { ApiSettings } from '../settings.ts';

let world: World;
let port: number;
let streams: Stream[];

beforeEach(() => {
  streams = [];
});

afterEach(async () => {
  for (const stream of streams) stream.cancel();
  await world.close();
});

async function listen(settings: Partial<ApiSettings> = {}): Promise<void> {
  world = await createWorld({ settings: { heartbeatMs: 20, ...settings } });
  await world.app.listen({ host: '127.0.0.1', port: 0 });
  const address = world.app.server.address();
  if (address === null || typeof address === 'string') throw new Error('expected a port');
  ({ port } = address);
}

/** An open event stream, read as it comes. */
interface Stream {
  readonly status: number;
  readonly headers: Headers;
  /** Reads on until the text holds it; throws with all that came where the stream ends before. */
  until(part: string): Promise<string>;
  /** All that comes until the server ends it. */
  rest(): Promise<string>;
  cancel(): void;
}

async function open(who: Person, path: string, headers: Record<string, string> = {}) {
  const abort = new AbortController();
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    headers: { authorization: `Bearer ${who.key}`, ...headers },
    signal: abort.signal,
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  const more = async (): Promise<boolean> => {
    const piece = await reader?.read();
    text += piece?.value ?? '';
    return piece?.done === false;
  };
  const stream: Stream = {
    status: response.status,
    headers: response.headers,
    until: async (part) => {
      while (!text.includes(part)) {
        if (!(await more())) throw new Error(`expected ${part}, got an end after ${text}`);
      }
      return text;
    },
    rest: async () => {
      while (await more());
      return text;
    },
    cancel: () => abort.abort(),
  };
  streams.push(stream);
  return stream;
}

const namesIn = (text: string) => [...text.matchAll(/^event: (.*)$/gm)].map((match) => match[1]);
const cursorsIn = (text: string) =>
  [...text.matchAll(/^id: (.*)$/gm)].map((match) => match[1] ?? '');

const EventSchema = z.object({ data: z.record(z.string(), z.unknown()).default({}) });
const dataIn = (text: string) =>
  [...text.matchAll(/^data: (.*)$/gm)].map(
    (match) => EventSchema.parse(JSON.parse(match[1] ?? '')).data,
  );

// Keeps R-API-STREAM.
describe('the events of a contract', () => {
  it('come as they happen, and go on after the last one that was seen', async () => {
    await listen();
    const id = await world.openContract();
    const stream = await open(world.people.requester, `/v1/contracts/${id}/events`);
    expect(stream.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const before = cursorsIn(await stream.until('contract_open')).at(-1) ?? '';
    await world.decide(id, 'FAIL');
    const text = await stream.until('submission_failed');
    const later = await open(world.people.requester, `/v1/contracts/${id}/events`, {
      'last-event-id': before,
    });
    const resumed = await later.until('submission_failed');
    const whole = cursorsIn(text);
    expect(cursorsIn(resumed)).toEqual(whole.slice(whole.indexOf(before) + 1));
    expect(new Set(whole).size).toBe(whole.length);
  });

  it('end with the contract', async () => {
    await listen({ heartbeatMs: 300 });
    const id = await world.openContract();
    const stream = await open(world.people.solver, `/v1/contracts/${id}/events`);
    await stream.until('contract_open');
    await world.ask(world.people.requester, 'POST', `/v1/contracts/${id}/cancel`);
    expect(namesIn(await stream.rest()).at(-1)).toBe('end');
    const late = await open(world.people.solver, `/v1/contracts/${id}/events`);
    expect(namesIn(await late.rest())).toEqual(namesIn(await stream.rest()));
    const resumed = await open(world.people.solver, `/v1/contracts/${id}/events`, {
      'last-event-id': cursorsIn(await late.rest()).at(-1) ?? '',
    });
    expect(namesIn(await resumed.rest())).toEqual(['end']);
  });

  // Keeps R-API-SIGHT.
  it('S18 tell how far proving is, by the names of what is tried, to requester and operator only', async () => {
    await listen();
    const id = await world.openContract();
    await world.ask(world.people.requester, 'POST', `/v1/contracts/${id}/cancel`);
    const knowing = [];
    for (const name of ['operator', 'requester', 'solver', 'challenger', 'arbiter'] as const) {
      const stream = await open(world.people[name], `/v1/contracts/${id}/events`);
      const text = await stream.rest();
      if (text.includes(PROVING_SECRET) || text.includes('approval_')) knowing.push(name);
    }
    expect(knowing).toEqual(['operator', 'requester']);
  });

  it('tell of the submissions of others only what is public', async () => {
    await listen();
    const id = await world.openContract();
    const { submissionId } = await world.decide(id, 'FAIL');
    await world.ask(world.people.requester, 'POST', `/v1/contracts/${id}/cancel`);
    const seen: Record<string, boolean> = {};
    for (const name of ['requester', 'solver', 'otherSolver', 'challenger'] as const) {
      const stream = await open(world.people[name], `/v1/contracts/${id}/events`);
      seen[name] = (await stream.rest()).includes(submissionId);
    }
    expect(seen).toEqual({ requester: true, solver: true, otherSolver: false, challenger: false });
  });

  it('S19 tell the steps of a run to its parties, and the commit to its solver until it passed', async () => {
    await listen();
    const id = await world.openContract();
    const begun = await world.begin(id);
    const watch = (who: 'requester' | 'solver' | 'otherSolver') =>
      open(world.people[who], `/v1/contracts/${id}/events`);
    const [requester, solver] = [await watch('requester'), await watch('solver')];
    const data = { stepId: 'fetch', kind: 'fetch', title: `Fetch ${begun.commit}` };
    await world.database.work.addRunEvents(begun.runId, [
      { name: 'run_step_started', audience: 'PARTIES', data },
      { name: 'run_step_finished', audience: 'PARTIES', data: {} },
    ]);
    expect(await solver.until('run_step_finished')).toContain(begun.commit);
    expect(await requester.until('run_step_finished')).not.toContain(begun.commit);
    const other = await watch('otherSolver');
    // Something of its own to wait for.
    await world.begin(id, world.people.otherSolver);
    expect(await other.until('run_queued')).not.toContain('run_step');
    await world.seal(begun, 'PASS');
    await world.database.work.addRunEvents(begun.runId, [
      { name: 'run_step_late', audience: 'PARTIES', data },
    ]);
    for (const stream of [requester, other]) {
      expect(await stream.until('run_step_late')).toContain(begun.commit);
    }
  });

  it('are asked for with a cursor of no kind: refused before the stream begins', async () => {
    await listen();
    const id = await world.openContract();
    for (const cursor of ['1', 'x-y', '1-1; DROP', '9'.repeat(32), 'g'.repeat(32)]) {
      const stream = await open(world.people.solver, `/v1/contracts/${id}/events`, {
        'last-event-id': cursor,
      });
      expect([cursor, stream.status]).toEqual([cursor, 400]);
    }
  });
});

describe('the events of a run', () => {
  it('end with the run; a solver learns nothing of a hidden criterion but its status', async () => {
    await listen();
    const id = await world.openContract();
    const { runId } = await world.decide(id, 'FAIL');
    const url = `/v1/runs/${runId}/events`;
    const solver = await (await open(world.people.solver, url)).rest();
    const requester = await (await open(world.people.requester, url)).rest();
    expect(namesIn(solver).at(-1)).toBe('end');
    expect(solver).not.toContain(SECRET);
    const told = dataIn(solver).find((data) => data.criterionId === 'unchanged');
    expect(told).toEqual({ criterionId: 'unchanged', visibility: 'hidden', status: 'fail' });
    expect(requester.split(SECRET).length - 1).toBe(2);
    expect((await open(world.people.otherSolver, url)).status).toBe(404);
  });
});

describe('an open stream', () => {
  it('gets a comment while nothing happens, and ends when its key is revoked', async () => {
    await listen();
    const id = await world.openContract();
    const stream = await open(world.people.solver, `/v1/contracts/${id}/events`);
    await stream.until(': still here');
    await world.revoke(world.people.solver);
    expect(await stream.rest()).not.toContain('event: end');
  });

  it('never rests: it ends all the same when its key is revoked', async () => {
    await listen();
    const { runId } = await world.begin(await world.openContract());
    const stream = await open(world.people.solver, `/v1/runs/${runId}/events`);
    const over = new AbortController();
    const busy = async (): Promise<void> => {
      while (!over.signal.aborted) {
        await world.database.work.addRunEvents(runId, [
          { name: 'note', audience: 'PARTIES', data: {} },
        ]);
      }
    };
    const writing = busy();
    await stream.until('note');
    await world.revoke(world.people.solver);
    expect(await stream.rest()).not.toContain('event: end');
    over.abort();
    await writing;
  });

  it('gets the comment also where the events are looked at more often than it is due', async () => {
    // Looked at every two seconds, whether or not there is a reason.
    await listen({ heartbeatMs: 3_000, connectionTimeoutMs: 10_000 });
    const id = await world.openContract();
    const stream = await open(world.people.solver, `/v1/contracts/${id}/events`);
    expect(await stream.until(': still here')).toContain('contract_open');
  });

  it('is one of too many: refused, until another one is closed', async () => {
    await listen({ watchersPerPrincipalMax: 2 });
    const id = await world.openContract();
    const url = `/v1/contracts/${id}/events`;
    const first = await open(world.people.solver, url);
    await open(world.people.solver, url);
    expect((await open(world.people.solver, url)).status).toBe(429);
    expect((await open(world.people.otherSolver, url)).status).toBe(200);
    first.cancel();
    await expect
      .poll(async () => (await open(world.people.solver, url)).status, { timeout: 10_000 })
      .toBe(200);
  });

  it('ends at once when the server is stopped, and the server with it', async () => {
    await listen({ heartbeatMs: 600_000 });
    const id = await world.openContract();
    const stream = await open(world.people.solver, `/v1/contracts/${id}/events`);
    await stream.until('contract_open');
    const [text] = await Promise.all([stream.rest(), world.app.close()]);
    expect(text).not.toContain('event: end');
  });

  it('is never read: the reader is let go, and its memory with it', async () => {
    await listen({ stalledReaderMs: 100 });
    const { runId } = await world.begin(await world.openContract());
    const socket = await deafWatcher(`/v1/runs/${runId}/events`, world.people.solver);
    const openSockets = () =>
      new Promise<number>((resolve) => {
        world.app.server.getConnections((_error, count) => resolve(count));
      });
    await expect.poll(openSockets).toBe(1);
    // More than the kernel takes for both ends.
    const data = { text: 'x'.repeat(60_000) };
    for (let batch = 0; batch < 20; batch += 1) {
      const events = Array.from({ length: 20 }, () => ({
        name: 'note',
        audience: 'PARTIES' as const,
        data,
      }));
      await world.database.work.addRunEvents(runId, events);
    }
    await expect.poll(openSockets, { timeout: 20_000 }).toBe(0);
    socket.destroy();
  });
});

/** Asks for a stream and reads none of it. */
async function deafWatcher(path: string, who: Person): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  await new Promise((resolve) => socket.once('connect', resolve));
  socket.pause();
  socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${who.key}\r\n\r\n`);
  return socket;
}

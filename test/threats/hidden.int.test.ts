import { afterAll, beforeAll, expect, it } from 'vitest';
import { describedRoutes, sampleOf } from '../../apps/api/src/testing/described-routes.ts';
import type { Cast, Person } from '../../apps/api/src/testing/people.ts';
import { type EngineBench, openEngineBench } from '../../packages/sandbox/src/testing/engine.ts';
import { openHiddenWorld, type HiddenWorld } from './hidden-world.ts';
import { toReadable } from './readable-evidence.ts';

/** Who may not see hidden criteria of the contract; null is anybody without a key. */
const OUTSIDERS = ['solver', 'otherSolver', 'challenger', 'otherRequester', 'twoHats'] as const;
const OTHER_PATHS = ['/metrics', '/openapi.json', '/docs', '/v1/nothing'];

let engine: EngineBench;
let worlds: readonly HiddenWorld[] = [];
beforeAll(async () => {
  engine = await openEngineBench();
  const word = 'SECRET_CANARY';
  worlds = await Promise.all([
    openHiddenWorld(engine, {
      word: `${word}_1`,
      exitCode: 37,
      metric: 1.5,
      seconds: 0,
      outputBytes: 20,
      timeoutSeconds: 20,
    }),
    openHiddenWorld(engine, {
      word: `${word}_of_other_length`,
      exitCode: 0,
      metric: 98_765.25,
      seconds: 1,
      outputBytes: 50_000,
      timeoutSeconds: 31,
    }),
  ]);
});
afterAll(async () => {
  for (const world of worlds) await world.close();
  await engine.assertNothingLeft();
});

interface Answer {
  readonly asked: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Every call with every id there is, by one person. Bodies are what the document describes. */
async function askAll(
  world: HiddenWorld,
  [role, who]: readonly [string, Person | null],
): Promise<Answer[]> {
  const routes = [
    ...describedRoutes(world.app),
    ...OTHER_PATHS.map((path) => ({ method: 'GET', path, body: null }) as const),
  ];
  const answers = [];
  for (const { method, path, body } of routes) {
    for (const url of urlsOf(world, path)) {
      for (const payload of method === 'GET' ? [undefined] : payloadsOf(body)) {
        answers.push(await ask(world, `${role}: ${method} ${url}`, { who, method, url, payload }));
      }
    }
  }
  return answers;
}

function payloadsOf(body: Parameters<typeof sampleOf>[0] | null): unknown[] {
  return [undefined, {}, ...(body === null ? [] : [sampleOf(body)])];
}

/** `/v1/runs/{id}` for each run; fails for a parameter that no value is known for. */
function urlsOf({ ids }: HiddenWorld, path: string): string[] {
  const [before, after] = path.split(/\{\w+\}(.*)/s);
  if (before === undefined || after === undefined) return [path];
  const word = before.split('/').at(-2) ?? '';
  const known = ids[word];
  if (known === undefined) throw new Error(`expected ids for ${path}, got none: add them`);
  return known.flatMap((id) => urlsOf({ ids } as HiddenWorld, `${before}${id}${after}`));
}

async function ask(
  { origin }: HiddenWorld,
  asked: string,
  request: { who: Person | null; method: string; url: string; payload: unknown },
): Promise<Answer> {
  const { who, method, url, payload } = request;
  const abort = new AbortController();
  const response = await fetch(`${origin}${url}`, {
    method,
    signal: abort.signal,
    headers: {
      // Not a program on this machine, which may read metrics.
      'x-forwarded-for': '203.0.113.9',
      ...(who !== null && { authorization: `Bearer ${who.key}` }),
      ...(payload !== undefined && { 'content-type': 'application/json' }),
    },
    ...(payload !== undefined && { body: JSON.stringify(payload) }),
  });
  const headers = Object.fromEntries(response.headers);
  // Each byte a character where it is no text.
  const isTar = headers['content-type'] === 'application/x-tar';
  const decoder = new TextDecoderStream(isTar ? 'latin1' : 'utf-8');
  let body = '';
  for await (const piece of response.body?.pipeThrough(decoder) ?? []) {
    body += piece;
    // A stream of what has not ended: all of it is told before the first silence.
    if (body.endsWith(': still here\n\n')) break;
  }
  abort.abort();
  const bytes = Buffer.byteLength(body, isTar ? 'latin1' : 'utf8');
  expect(Number(headers['content-length'] ?? bytes)).toBe(bytes);
  return { asked, status: response.status, headers, body };
}

/**
 * What differs between any two worlds: ids by the order in which they are seen, times, what this machine measured of
 * public criteria, and the hashes of the ledger, which go over ids and times.
 */
function createNeutral(): (text: string) => string {
  const seen = new Map<string, string>();
  const named = (id: string): string => {
    const name = seen.get(id) ?? `${id.slice(0, 3)}#${seen.size}`;
    seen.set(id, name);
    return name;
  };
  return (text) =>
    text
      .replaceAll(/\b[a-z]{3,5}_[0-9A-Za-z]{26}\b/g, named)
      .replaceAll(/req_[\w-]{12}_\w+/g, 'REQUEST')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
      .replaceAll(/^id: [0-9a-f]{32}$/gm, 'id: CURSOR')
      .replaceAll(/"(durationMs|peakMemoryBytes)":\d+/g, '"$1":0')
      .replaceAll(/"(hash|prevHash)":"[0-9a-f]{64}"/g, '"$1":""');
}

function toNeutral(answers: readonly Answer[]): Answer[] {
  const neutral = createNeutral();
  return answers.map(({ asked, status, headers, body }) => {
    const { date: _date, 'ratelimit-reset': _reset, 'content-length': _length, ...rest } = headers;
    const entries = Object.entries(rest).map(([name, value]) => [name, neutral(value)]);
    return {
      asked: neutral(asked.replaceAll(/[0-9a-f]{64}/g, 'PACKAGE')),
      status,
      headers: Object.fromEntries(entries),
      body: neutral(toReadable(body)),
    };
  });
}

function personOf({ people }: HiddenWorld, name: keyof Cast | null) {
  return name === null ? (['anybody', null] as const) : ([name, people[name]] as const);
}

// Keeps R-API-SIGHT, R-HIDDEN-UNTOLD.
it('S18 BUG-38 H15 compares all answers about two contracts whose hidden values differ, evidence decoded: not a byte of difference', async () => {
  for (const name of [...OUTSIDERS, null]) {
    const [first, second] = await Promise.all(
      worlds.map(async (world) => {
        const answers = await askAll(world, personOf(world, name));
        // What is asked for is no answer: the path of a package has its digest.
        const told = answers
          .map(({ headers, body }) => JSON.stringify(headers) + toReadable(body))
          .join('\n');
        expect(world.secrets.filter((secret) => told.includes(secret))).toEqual([]);
        // Whoever has a key sees what passed, its evidence too.
        expect(told.includes('THAT OF result.json')).toBe(name !== null);
        return toNeutral(answers);
      }),
    );
    expect(second).toEqual(first);
  }
});

it('BUG-15 hands in another commit after a failure, under the same contract: it is run itself, and PASSED', async () => {
  for (const world of worlds) {
    const results = [];
    for (const id of world.ids['runs']?.slice(0, 2) ?? []) {
      const { body } = await ask(world, '', {
        who: world.people.operator,
        method: 'GET',
        url: `/v1/runs/${id}`,
        payload: undefined,
      });
      results.push((JSON.parse(body) as { result: Record<string, unknown> }).result);
    }
    const [failed, passed] = results;
    expect([failed?.['verdict'], passed?.['verdict']]).toEqual(['FAIL', 'PASS']);
    for (const field of ['contractDigest', 'imageDigest']) {
      expect(passed?.[field]).toBe(failed?.[field]);
    }
    expect(passed?.['commit']).not.toBe(failed?.['commit']);
    expect(passed?.['tree']).not.toBe(failed?.['tree']);
  }
});

it('BUG-38 a hidden assertion fails with SECRET_CANARY in its traceback: requester and operator read it', async () => {
  for (const world of worlds) {
    const [word = ''] = world.secrets;
    for (const name of ['requester', 'operator'] as const) {
      const answers = (await askAll(world, personOf(world, name))).filter(({ asked }) =>
        asked.includes('GET'),
      );
      const knowing = answers.filter(({ body }) => body.includes(word)).map(({ asked }) => asked);
      expect(knowing).toEqual(
        expect.arrayContaining([
          `${name}: GET /v1/contracts/${world.ids['contracts']?.[0]}/document`,
          `${name}: GET /v1/runs/${world.ids['runs']?.[0]}`,
          `${name}: GET /v1/runs/${world.ids['runs']?.[0]}/logs/h-asserts`,
          `${name}: GET /v1/runs/${world.ids['runs']?.[0]}/events`,
        ]),
      );
    }
  }
});

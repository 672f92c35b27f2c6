import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { sampleContract } from '../testing/sample-contract.ts';
import { createWorld, type World } from '../testing/world.ts';

let world: World;
let openId: string;
let passedId: string;

beforeAll(async () => {
  world = await createWorld();
  openId = await world.openContract();
  passedId = (await world.decide(openId, 'PASS')).submissionId;
  await world.pay(world.people.challenger, 5_000n);
});

afterAll(async () => world.close());

const JSON_TYPE = { 'content-type': 'application/json' };

// Keeps R-API-STRICT.
describe('what people write', () => {
  const challenges = () => `/v1/submissions/${passedId}/challenges`;
  const evidence = (text: string) => `{"kind":"OVERTURN_PASS","evidence":"${text}"}`;

  it.each([
    ['nothing', ''],
    ['only blanks', ' \\n\\t'],
    ['NUL, which no text of PostgreSQL holds', 'a\\u0000b'],
    ['half a character, which has no UTF-8', 'a\\ud800b'],
    ['more than 20,000', 'a'.repeat(20_001)],
  ])('is evidence of %s: refused at its place', async (_what, text) => {
    for (const key of [undefined, 'hostile']) {
      const headers = { ...JSON_TYPE, ...(key !== undefined && { 'idempotency-key': key }) };
      const { challenger } = world.people;
      const answer = await world.ask(challenger, 'POST', challenges(), evidence(text), headers);
      expect(answer).toMatchObject({ status: 422, code: 'API_REQUEST_INVALID' });
      expect(answer.fields.errors).toMatchObject([{ pointer: '/evidence' }]);
    }
  });

  it('is evidence in any script, with controls and turned text: kept as it came, sent as escapes', async () => {
    const text = 'Ünïcode 🎯 \u001b[31m\r\n \u009b2J \u202egpj.js \u200b';
    const body = { kind: 'OVERTURN_PASS', evidence: text };
    const { id, headers } = await world.ask(world.people.challenger, 'POST', challenges(), body);
    expect(headers.location).toBe(`/v1/challenges/${id}`);
    const seen = await world.ask(world.people.challenger, 'GET', `/v1/challenges/${id}`);
    expect(seen.fields.evidence).toBe(text);
    const url = `/v1/challenges/${id}/resolve`;
    const statement = { decision: 'UPHOLD_PASS', statement: 'a\0b' };
    const refused = await world.ask(world.people.arbiter, 'POST', url, statement);
    expect(refused.fields.errors).toMatchObject([{ pointer: '/statement' }]);
  });

  it.each([
    ['half a character', '\\ud800'],
    ['what turns the rest around', '\\u202e'],
    ['what nobody sees', '\\u200b'],
  ])('is a repository URL with %s: refused', async (_what, text) => {
    const body = `{"repositoryUrl":"https://git.example.org/${text}a.git","commit":"${'1'.repeat(40)}"}`;
    const headers = { ...JSON_TYPE, 'idempotency-key': 'url' };
    const url = `/v1/contracts/${openId}/submissions`;
    const answer = await world.ask(world.people.solver, 'POST', url, body, headers);
    expect(answer).toMatchObject({ status: 422, code: 'API_REPOSITORY_URL_REFUSED' });
  });
});

describe('a request of the wrong kind', () => {
  it('sends a tar where JSON is wanted: told so, and not what our streams are made of', async () => {
    const { requester, operator } = world.people;
    const tar = { 'content-type': 'application/x-tar' };
    for (const [who, url] of [
      [requester, '/v1/contracts'],
      [requester, `/v1/contracts/${openId}/approve`],
      [operator, '/v1/deposits'],
    ] as const) {
      const answer = await world.ask(who, 'POST', url, Buffer.alloc(1_024), tar);
      expect(answer).toMatchObject({ status: 415, code: 'API_MEDIA_TYPE_UNSUPPORTED' });
      expect(answer.text).not.toContain('_read');
    }
  });

  it('uses any other method that HTTP servers know: 405 with those that are taken', async () => {
    for (const method of ['HEAD', 'OPTIONS', 'PUT', 'PATCH', 'DELETE', 'TRACE'] as const) {
      const { statusCode, headers } = await world.app.inject({
        method: method as 'PUT',
        url: '/v1/deposits',
      });
      expect([method, statusCode, headers.allow]).toEqual([method, 405, 'POST']);
    }
  });
});

describe('what was made', () => {
  it('is found where Location says, also in the answer to a repeat', async () => {
    const { requester, solver } = world.people;
    const once = { 'idempotency-key': 'made' };
    for (const [who, url, body] of [
      [requester, '/v1/contracts', sampleContract({ title: 'Found' })],
      [
        solver,
        `/v1/contracts/${openId}/submissions`,
        { repositoryUrl: 'https://git.example.org/a.git', commit: '9'.repeat(40) },
      ],
    ] as const) {
      for (const isRepeat of [false, true]) {
        const { status, id, headers } = await world.ask(who, 'POST', url, body, once);
        expect([status, headers['idempotency-replayed']]).toEqual([
          201,
          isRepeat ? 'true' : undefined,
        ]);
        expect((await world.ask(who, 'GET', String(headers.location))).id).toBe(id);
      }
    }
  });
});

describe('readiness', () => {
  it('is asked for by a crowd of strangers: the tables are looked at once for all of them', async () => {
    const status = vi.spyOn(world.database.reads, 'status');
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => world.ask(null, 'GET', '/readyz')),
    );
    expect(answers.every(({ fields }) => fields.ready === true)).toBe(true);
    expect(status.mock.calls.length).toBeLessThan(10);
    status.mockRestore();
  });
});

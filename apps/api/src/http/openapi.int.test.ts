import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createWorld, type World } from '../testing/world.ts';

const GUIDE = join(import.meta.dirname, '../../../../docs/api.md');

const ParameterSchema = z.looseObject({ in: z.string(), name: z.string() });
const OperationSchema = z.looseObject({
  operationId: z.string().regex(/^(get|post|put)(_[A-Za-z0-9]+)+$/),
  summary: z.string().min(1),
  tags: z.array(z.string()).min(1),
  'x-kervyxa-access': z.array(z.string()).min(1),
  parameters: z.array(ParameterSchema).default([]),
  security: z.array(z.unknown()).default([]),
  responses: z.record(z.string(), z.looseObject({ description: z.string() })),
});
const DocumentSchema = z.looseObject({
  openapi: z.literal('3.1.0'),
  info: z.looseObject({ title: z.string(), version: z.string() }),
  paths: z.record(z.string(), z.record(z.string(), OperationSchema)),
});

let world: World;
let document: z.infer<typeof DocumentSchema>;

beforeAll(async () => {
  world = await createWorld();
  const { body } = await world.app.inject('/openapi.json');
  document = DocumentSchema.parse(JSON.parse(body));
});

afterAll(async () => world.close());

/** Every operation, as `[method, path, operation]`. */
function operations(): [string, string, z.infer<typeof OperationSchema>][] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]) =>
        [method.toUpperCase(), path, operation] satisfies [string, string, typeof operation],
    ),
  );
}

/** Every schema of the document with its place. */
function schemasIn(value: unknown, place = ''): [string, unknown][] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]): [string, unknown][] =>
    key === 'schema' ? [[place, inner]] : schemasIn(inner, `${place}/${key}`),
  );
}

describe('/openapi.json', () => {
  it('is OpenAPI 3.1: every operation is described, and every parameter of a path declared', () => {
    for (const [method, path, { parameters }] of operations()) {
      const named = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
      const declared = parameters.filter((each) => each.in === 'path').map(({ name }) => name);
      expect([method, path, declared]).toEqual([method, path, named]);
    }
  });

  it('names every operation, for generated clients, each otherwise', () => {
    const names = operations().map(([, , { operationId }]) => operationId);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toContain('post_contracts_id_fund');
  });

  it('has the pattern of amounts, which no number fits', () => {
    const text = JSON.stringify(document.paths['/v1/deposits']);
    expect(text).toContain('"amountMinor":{"type":"string","pattern":"^[1-9][0-9]{0,18}$"}');
  });

  it('has schemas that are JSON Schema, all of them', () => {
    const schemas = schemasIn(document.paths);
    expect(schemas.length).toBeGreaterThan(60);
    for (const [place, schema] of schemas) {
      const plain = z.record(z.string(), z.unknown()).parse(schema);
      expect([place, z.fromJSONSchema(plain)]).toEqual([place, expect.anything()]);
    }
  });

  it('takes a key for everything under /v1, and every POST and PUT there an Idempotency-Key', () => {
    const v1 = operations().filter(([, path]) => path.startsWith('/v1/'));
    expect(v1.length).toBe(71);
    for (const [method, path, operation] of v1) {
      expect([path, operation.security]).toEqual([path, [{ apiKey: [] }]]);
      const headers = operation.parameters.filter((each) => each.in === 'header');
      expect([path, headers.map(({ name }) => name)]).toEqual([
        path,
        method !== 'GET' ? ['idempotency-key'] : [],
      ]);
      expect(Object.keys(operation.responses)).toContain('default');
    }
  });

  it('is what docs/api.md says, row by row', () => {
    const rows = operations().map(
      ([method, path, { summary, 'x-kervyxa-access': access }]) =>
        `${method} ${path} ${access.join(' or ')}: ${summary}`,
    );
    const guide = (readFileSync(GUIDE, 'utf8').split(/^## Calls$/m)[1] ?? '')
      .split('\n')
      .filter((line) => line.startsWith('| `'))
      .map((line) =>
        line
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim().replaceAll('`', '')),
      )
      .map(([call, access, summary]) => `${call} ${access}: ${summary}`);
    expect(guide).toEqual(rows);
  });
});

describe('/docs', () => {
  it('is where the address itself leads', async () => {
    const { statusCode, headers } = await world.app.inject('/');
    expect([statusCode, headers.location]).toEqual([302, '/docs']);
  });

  it('is a page that loads nothing from elsewhere, under a policy that would not let it', async () => {
    const page = await world.app.inject('/docs');
    const policy = String(page.headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/https?:|unsafe-eval|script-src[^;]*unsafe/);
    const linked = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(
      (match) => match[1] ?? '',
    );
    expect(linked.length).toBeGreaterThan(3);
    for (const each of linked) {
      expect(each).toMatch(/^\/docs\//);
      expect([each, (await world.app.inject(each)).statusCode]).toEqual([each, 200]);
    }
    expect(page.body).not.toMatch(/<script(?![^>]*src=)[^>]*>[^<]/);
  });
});

describe('what is open', () => {
  it('answers health, readiness and metrics', async () => {
    const { ask, people, app } = world;
    expect((await ask(null, 'GET', '/healthz')).fields).toEqual({ ok: true });
    expect((await ask(null, 'GET', '/readyz')).fields).toEqual({
      ready: true,
      parts: [
        { name: 'database', ok: true, problem: null },
        { name: 'tables', ok: true, problem: null },
      ],
    });
    const id = await world.openContract();
    await world.begin(id);
    const { body } = await app.inject('/metrics');
    expect(body).toMatch(/^kervyxa_submissions\{state="QUEUED"\} 1$/m);
    expect(body).toMatch(/^kervyxa_queue_jobs\{queue="verify",state="ready"\} \d+$/m);
    expect(body).toMatch(
      /kervyxa_http_request_duration_seconds_count\{method="POST",route="\/v1\/deposits",status="2xx"\}/,
    );
    expect(body).not.toContain(id);
    const far = { remoteAddress: '203.0.113.9' };
    expect((await app.inject({ url: '/metrics', ...far })).statusCode).toBe(401);
    const asked = async (key: string) =>
      (await app.inject({ url: '/metrics', ...far, headers: { authorization: `Bearer ${key}` } }))
        .statusCode;
    expect(await asked(people.solver.key)).toBe(403);
    expect(await asked(people.operator.key)).toBe(200);
    const proxied = { 'x-forwarded-for': '203.0.113.9' };
    expect((await app.inject({ url: '/metrics', headers: proxied })).statusCode).toBe(401);
  });

  it('answers HEAD where probes ask with it', async () => {
    for (const url of ['/healthz', '/readyz']) {
      const { statusCode, body } = await world.app.inject({ method: 'HEAD', url });
      expect([url, statusCode, body]).toEqual([url, 200, '']);
    }
  });

  it('says which part is not ready, and no more than that', async () => {
    await world.breakTable('submissions');
    expect(await world.ask(null, 'GET', '/readyz')).toMatchObject({
      status: 503,
      fields: {
        ready: false,
        parts: [
          { name: 'database', ok: true, problem: null },
          { name: 'tables', ok: false, problem: 'does not answer' },
        ],
      },
    });
    expect((await world.ask(null, 'GET', '/healthz')).status).toBe(200);
  });
});

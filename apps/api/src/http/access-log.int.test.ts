import { afterEach, expect, it } from 'vitest';
import type { FastifyBaseLogger } from 'fastify';
import { createWorld, type World } from '../testing/world.ts';

let world: World;

afterEach(async () => world.close());

/** A logger that keeps its lines as JSON, as the real one writes them. */
function keepLines(lines: string[]): FastifyBaseLogger {
  const write = (fields: unknown, message?: string) => {
    const seen = JSON.stringify({ fields, message }, (_key, value: unknown) =>
      value instanceof Error ? { message: value.message, stack: value.stack } : value,
    );
    lines.push(seen);
  };
  const logger: FastifyBaseLogger = {
    level: 'trace',
    fatal: write,
    error: write,
    warn: write,
    info: write,
    debug: write,
    trace: write,
    silent: write,
    child: () => logger,
  };
  return logger;
}

// Keeps R-API-STRICT.
it('S29 forges a line with its path and its user agent: the log has one line, and no key', async () => {
  const lines: string[] = [];
  world = await createWorld({ logger: keepLines(lines) });
  const { app, people } = world;
  lines.length = 0;
  await app.inject({
    url: '/v1/me?x=\u001b[2J%0a{"level":60}\u202e',
    headers: {
      authorization: `Bearer ${people.solver.key}`,
      'user-agent': 'a\tb',
      'x-request-id': 'forged',
      'x-forwarded-for': '6.6.6.6',
    },
  });
  expect(lines.length).toBe(1);
  expect(lines[0]).not.toContain('\u001b');
  expect(lines[0]).not.toContain('\u202e');
  for (const secret of [people.solver.key, 'forged', '6.6.6.6']) {
    expect(lines[0]).not.toContain(secret);
  }
  expect(lines[0]).toContain(people.solver.id);
});

it('writes its key into the path, as some clients do: the log has the request without it', async () => {
  const lines: string[] = [];
  world = await createWorld({ logger: keepLines(lines) });
  const { app, people } = world;
  lines.length = 0;
  await app.inject({ url: `/v1/contracts?api_key=${people.solver.key}` });
  expect(lines.join('\n')).toContain('/v1/contracts?api_key=kvx_…');
  expect(lines.join('\n')).not.toContain(people.solver.key);
});

it('breaks inside: the client learns nothing, the log has the cause under the request’s id', async () => {
  const lines: string[] = [];
  world = await createWorld({ logger: keepLines(lines) });
  const { app, people, breakTable } = world;
  await app.inject({ url: '/v1/me', headers: { authorization: `Bearer ${people.solver.key}` } });
  await breakTable('api_keys');
  lines.length = 0;
  const answer = await app.inject({
    url: '/v1/me',
    headers: { authorization: `Bearer ${people.solver.key}` },
  });
  expect(answer.statusCode).toBe(500);
  expect(answer.json()).toMatchObject({ code: 'API_INTERNAL' });
  expect(answer.body).not.toContain('api_keys');
  expect(lines.join('\n')).toContain('api_keys');
});

import { isAppError } from '@kervyxa/core';
import { z } from 'zod';
import type { Api, ApiContext } from '../context.ts';

const PartView = z.strictObject({
  name: z.enum(['database', 'tables']),
  ok: z.boolean(),
  problem: z.string().nullable(),
});
const ReadyView = z.strictObject({ ready: z.boolean(), parts: z.array(PartView) });
type Part = z.infer<typeof PartView>;

const DEADLINE_MS = 2_000;

/** For whoever starts, stops and balances processes: open, cheap, and without secrets. */
export function registerHealth(app: Api, { database }: ApiContext): void {
  /** One look for all who ask meanwhile: anybody may ask, as often as they like, and each look reads tables. */
  let checking: Promise<Part[]> | null = null;

  async function checkAll(): Promise<Part[]> {
    try {
      return await Promise.all([
        checkPart('database', () => database.now()),
        checkPart('tables', () => database.reads.status()),
      ]);
    } finally {
      checking = null;
    }
  }

  app.get(
    '/healthz',
    {
      config: { access: 'health' },
      exposeHeadRoute: true,
      schema: {
        tags: ['health'],
        summary: 'Whether the process answers',
        response: { 200: z.strictObject({ ok: z.literal(true) }) },
      },
    },
    async (_request, reply) => reply.send({ ok: true as const }),
  );

  app.get(
    '/readyz',
    {
      config: { access: 'health' },
      exposeHeadRoute: true,
      schema: {
        tags: ['health'],
        summary: 'Whether it can do its work, and which part can’t',
        response: { 200: ReadyView, 503: ReadyView },
      },
    },
    async (_request, reply) => {
      checking ??= checkAll();
      const parts = await checking;
      const ready = parts.every(({ ok }) => ok);
      return reply.code(ready ? 200 : 503).send({ ready, parts });
    },
  );
}

async function checkPart(name: Part['name'], check: () => Promise<unknown>): Promise<Part> {
  const late = new Promise<never>((_resolve, reject) => {
    AbortSignal.timeout(DEADLINE_MS).addEventListener('abort', () => reject(new Error('late')));
  });
  try {
    await Promise.race([check(), late]);
    return { name, ok: true, problem: null };
  } catch (error) {
    // Its code says enough; a driver's message may have an address or a user in it.
    return { name, ok: false, problem: isAppError(error) ? error.code : 'does not answer' };
  }
}

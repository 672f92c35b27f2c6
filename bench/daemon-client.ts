import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { benchContract } from './daemon-material.ts';
import { openHttpLane, type HttpLane, type HttpRequest } from './http-lane.ts';

const PROGRAM = join(import.meta.dirname, 'daemon-process.ts');
const StartedSchema = z.strictObject({ url: z.string(), key: z.string(), commit: z.string() });
const IdSchema = z.looseObject({ id: z.string() });
const PrincipalSchema = z.looseObject({ id: z.string(), apiKey: z.string() });
const StateSchema = z.looseObject({ state: z.string() });

export interface DaemonProcess {
  readonly url: string;
  /** The operator's. */
  readonly key: string;
  readonly commit: string;
  stop(): Promise<void>;
}

export interface Person {
  readonly id: string;
  readonly key: string;
}

export async function startDaemon(
  databaseUrl: string,
  part: 'api' | 'worker',
): Promise<DaemonProcess> {
  const child = spawn(process.execPath, [PROGRAM, databaseUrl, part], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const line = once(createInterface(child.stdout), 'line');
  const first = await Promise.race([line, exited]);
  const started = StartedSchema.parse(JSON.parse(String(first[0])));
  return {
    ...started,
    stop: async () => {
      child.stdin.end();
      await exited;
    },
  };
}

/** People and contracts, made as everybody makes them. */
export interface Registrar {
  newPerson(name: string, role: 'requester' | 'solver'): Promise<Person>;
  /** Approved by a worker, and funded. */
  openContract(title: string, requester: Person): Promise<string>;
  close(): void;
}

export async function openRegistrar({ url, key }: DaemonProcess): Promise<Registrar> {
  const lane = await openHttpLane(url);
  const post = (path: string, by: string, body: unknown): Promise<unknown> =>
    sendJson(lane, { method: 'POST', path, key: by, body: JSON.stringify(body) });
  return {
    newPerson: async (name, role) => {
      const made = PrincipalSchema.parse(
        await post('/v1/principals', key, { name, roles: [role] }),
      );
      return { id: made.id, key: made.apiKey };
    },
    openContract: async (title, requester) => {
      const { id } = IdSchema.parse(
        await post('/v1/contracts', requester.key, benchContract(title)),
      );
      const path = `/v1/contracts/${id}`;
      await post(`${path}/approve`, requester.key, {});
      const look = async () =>
        StateSchema.parse(await sendJson(lane, { method: 'GET', path, key: requester.key }));
      for (let seen = await look(); seen.state !== 'PROVED'; seen = await look()) await delay(20);
      const deposit = { principalId: requester.id, amountMinor: '50000', currency: 'USD' };
      await post('/v1/deposits', key, { ...deposit, reference: `for-${id}` });
      await post(`${path}/fund`, requester.key, {});
      return id;
    },
    close: () => lane.close(),
  };
}

/** The answer of a request that must go well. */
export async function sendJson(lane: HttpLane, request: HttpRequest): Promise<unknown> {
  const { status, body } = await lane.send(request);
  if (status >= 300) throw new Error(`${request.method} ${request.path} got ${status}: ${body}`);
  return JSON.parse(body);
}

/** Hands in the commit; the id of the submission. */
export async function submit(
  lane: HttpLane,
  contractId: string,
  { key, commit }: { readonly key: string; readonly commit: string },
): Promise<string> {
  const body = JSON.stringify({ repositoryUrl: 'https://git.example.org/solver.git', commit });
  const path = `/v1/contracts/${contractId}/submissions`;
  return IdSchema.parse(await sendJson(lane, { method: 'POST', path, key, body })).id;
}

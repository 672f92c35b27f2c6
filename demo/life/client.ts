import { randomUUID } from 'node:crypto';
import type { z } from 'zod';

/** One principal's way to the API. */
export interface Client {
  get<T>(path: string, schema: z.ZodType<T>): Promise<T>;
  /** Under an Idempotency-Key of its own. A string is sent as JSON text, bytes as a tar archive. */
  post<T>(path: string, body: unknown, schema: z.ZodType<T>): Promise<T>;
}

/** An answer other than 2xx. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  readonly status: number;
  readonly code: string;

  constructor(request: string, status: number, problem: Readonly<Record<string, unknown>>) {
    super(`${request}: ${status} ${String(problem['code'])}: ${String(problem['detail'])}`);
    this.status = status;
    this.code = String(problem['code']);
  }
}

export function createClient(origin: string, apiKey: string, signal: AbortSignal): Client {
  const authorization = `Bearer ${apiKey}`;
  const call = async <T>(
    method: string,
    path: string,
    schema: z.ZodType<T>,
    init: RequestInit = {},
  ): Promise<T> => {
    const headers = { authorization, ...init.headers };
    const response = await fetch(`${origin}/v1${path}`, { ...init, method, headers, signal });
    const answer: unknown = await response.json();
    if (response.ok) return schema.parse(answer);
    throw new ApiProblem(`${method} ${path}`, response.status, answer as Record<string, unknown>);
  };
  return {
    get: (path, schema) => call('GET', path, schema),
    post: (path, body, schema) => {
      const isArchive = body instanceof Uint8Array;
      return call('POST', path, schema, {
        body: isArchive ? Buffer.from(body) : JSON.stringify(body),
        headers: {
          'content-type': isArchive ? 'application/x-tar' : 'application/json',
          'idempotency-key': randomUUID(),
        },
      });
    },
  };
}

import { toPrintable } from '@kervyxa/core';
import { z } from 'zod';
import type { CommandContext } from '../context.ts';
import { cliError } from '../errors.ts';

export const URL_DEFAULT = 'http://127.0.0.1:8737';

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** `/v1/…`. */
  readonly path: string;
  /** JSON, or the bytes of a tar. */
  readonly body?: object | Buffer<ArrayBuffer> | undefined;
}

/** A member of an answer that is a JSON object. */
export type ApiAnswer = Readonly<Record<string, unknown>>;

export const AnswerSchema = z.record(z.string(), z.unknown());
/** Third-party in form: an API of another version may say more. */
const ProblemSchema = z.looseObject({
  code: z.string(),
  detail: z.string().optional(),
  fix: z.string().optional(),
});

/**
 * Asks the API that `url`, KERVYXA_URL or the default names, with the key in KERVYXA_KEY. Nothing is sent a second time,
 * so no Idempotency-Key goes along: whoever runs a command again means it.
 * Throws CLI_SETTING_INVALID, CLI_API_UNREACHABLE, CLI_API_REFUSED.
 */
export async function askApi<T>(
  { host, interrupts }: CommandContext,
  url: string | undefined,
  { method, path, body }: ApiRequest,
  schema: z.ZodType<T>,
): Promise<T> {
  const base = parseBase(url ?? host.env['KERVYXA_URL'] ?? URL_DEFAULT);
  const key = host.env['KERVYXA_KEY'];
  if (key === undefined || key === '')
    throw cliError('CLI_SETTING_INVALID', {
      message: 'expected an API key in KERVYXA_KEY, got none',
      fix: 'set KERVYXA_KEY to the key of who is asking; keys are not taken as options, which others on the machine can read',
    });
  const isTar = Buffer.isBuffer(body);
  const type = isTar ? 'application/x-tar' : 'application/json';
  const ask = async () => {
    const response = await fetch(`${base}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body !== undefined && { 'content-type': type }),
      },
      ...(body !== undefined && { body: isTar ? body : JSON.stringify(body) }),
      redirect: 'error',
      signal: interrupts.signal,
    });
    return { ok: response.ok, status: response.status, text: await response.text() };
  };
  const { ok, status, text } = await ask().catch((cause: unknown) => {
    interrupts.signal.throwIfAborted();
    throw cliError('CLI_API_UNREACHABLE', {
      message: `expected a whole answer of ${base}, got none`,
      fix: 'start the daemon with "kervyxa up", or name its address with --url or KERVYXA_URL',
      cause,
    });
  });
  const answer = parseJson(text);
  if (!ok) throw toRefusal(status, answer);
  const { data, error } = schema.safeParse(answer);
  if (error === undefined) return data;
  throw noAnswer(text, error);
}

function parseBase(text: string): string {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol)) return url.href.replace(/\/+$/, '');
  throw cliError('CLI_SETTING_INVALID', {
    message: `expected the URL of an API, got ${JSON.stringify(toPrintable(text, 200))}`,
    fix: `give one such as ${URL_DEFAULT}`,
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw noAnswer(text, cause);
  }
}

function noAnswer(text: string, cause: unknown): Error {
  return cliError('CLI_API_REFUSED', {
    message: `expected the answer of a kervyxa API, got ${JSON.stringify(toPrintable(text, 80))}`,
    fix: 'check that the address is that of a kervyxa API',
    cause,
  });
}

/** The API's own code and words; what it says is printed as it is safe to print. */
function toRefusal(status: number, answer: unknown): Error {
  const { data: problem } = ProblemSchema.safeParse(answer);
  return cliError('CLI_API_REFUSED', {
    message:
      problem === undefined
        ? `expected an answer with success, got status ${status}`
        : `${problem.code}: ${problem.detail ?? `status ${status}`}`,
    fix: problem?.fix,
    details: { status, problem: answer },
  });
}

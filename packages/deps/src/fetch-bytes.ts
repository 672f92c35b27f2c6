import type { Readable } from 'node:stream';
import { isAppError, toPrintable } from '@kervyxa/core';
import pacote from 'pacote';
import { depsError } from './errors.ts';
import type { NpmOptions } from './npm-options.ts';

export interface FetchRequest {
  readonly url: string;
  /** What it is, for messages: `date-fns@3.6.0`. */
  readonly what: string;
  /** Null where nothing is known of the bytes yet. */
  readonly integrity: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** One byte more ends the download. */
  readonly bytesMax: number;
}

/**
 * The bytes behind an address: by npm's own client, so with its proxies, credentials, certificates,
 * time-outs and retries.
 *
 * Throws DEPS_NOT_FOUND, DEPS_INTEGRITY_MISMATCH, DEPS_TOO_LARGE, DEPS_REGISTRY_REFUSED, DEPS_REGISTRY_UNAVAILABLE, and
 * the signal's reason after an abort.
 */
export async function fetchBytes(
  request: FetchRequest,
  npm: NpmOptions,
  signal: AbortSignal,
): Promise<Buffer> {
  signal.throwIfAborted();
  // Ends the connection of a download that is given up.
  const giveUp = new AbortController();
  const options: pacote.Options & Record<string, unknown> = {
    ...npm,
    // What its cache tells of versions may be as they were: the registry is asked whether it still holds.
    preferOnline: true,
    ...(request.integrity !== null && { integrity: request.integrity }),
    ...(request.headers !== undefined && { headers: request.headers }),
    // An address is fetched, whatever it looks like; never cloned, and nothing in it is run.
    allowGit: 'none',
    signal: AbortSignal.any([signal, giveUp.signal]),
  };
  try {
    return await pacote.tarball.stream(request.url, (stream) => collect(stream, request), options);
  } catch (error) {
    giveUp.abort();
    signal.throwIfAborted();
    throw toDepsError(error, request);
  }
}

async function collect(stream: Readable, request: FetchRequest): Promise<Buffer> {
  // One that is given up may fail once more, later.
  stream.on('error', () => undefined);
  const pieces: Uint8Array[] = [];
  let total = 0;
  for await (const piece of stream) {
    total += piece.length;
    if (total > request.bytesMax) {
      throw depsError('DEPS_TOO_LARGE', {
        message: `expected at most ${request.bytesMax} bytes for ${request.what}, got more`,
        fix: 'leave out what the contract does not need',
      });
    }
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

function toDepsError(error: unknown, { what, integrity }: FetchRequest): Error {
  if (isAppError(error)) return error;
  const code = fieldOf(error, 'code') ?? 'an unknown error';
  const got = toPrintable(error instanceof Error ? `${code}: ${error.message}` : code, 500);
  switch (code) {
    case 'EINTEGRITY':
      return depsError('DEPS_INTEGRITY_MISMATCH', {
        message: `expected ${what} with ${integrity ?? 'the announced integrity'}, got ${toPrintable(fieldOf(error, 'found') ?? 'other bytes', 300)}`,
        fix: 'do not use it before you know why: look at the registry setting of npm and at the history of the lock file',
        cause: error,
      });
    case 'E404':
    case 'E410':
      return depsError('DEPS_NOT_FOUND', {
        message: `expected ${what} at the registry, got ${got}`,
        fix: 'look at the registry setting (npm config get registry, PIP_INDEX_URL), or pin a version that is there',
        cause: error,
      });
    case 'E401':
    case 'E403':
      return depsError('DEPS_REGISTRY_REFUSED', {
        message: `expected to be given ${what}, got ${got}`,
        fix: 'log in (npm login), or put the credentials into the registry setting',
        cause: error,
      });
    default:
      return depsError('DEPS_REGISTRY_UNAVAILABLE', {
        message: `expected to be given ${what}, got ${got}`,
        fix: 'look at the network, the proxy and the registry setting, and repeat the command: what came is kept',
        cause: error,
      });
  }
}

function fieldOf(error: unknown, field: 'code' | 'found'): string | null {
  if (!(error instanceof Error) || !(field in error)) return null;
  const value: unknown = Reflect.get(error, field);
  return value === undefined || value === null ? null : String(value);
}

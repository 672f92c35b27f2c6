import { Agent } from 'node:http';
import { toPrintable } from '@kervyxa/core';
import Docker from 'dockerode';
import { sandboxError } from '../errors.ts';
import { within } from './deadline.ts';
import { statusOf, toEngineError } from './engine-errors.ts';

/** An engine on a busy machine starts a container in seconds; one that takes longer than this is not working. */
const CALL_MS_MAX = 60_000;

export interface Engine {
  readonly docker: Docker;
  /**
   * Awaits one call with a deadline. Calls are short and are not cut off by an abort: what they made could not be
   * removed if their answer were lost. Throws what `toEngineError` makes; `name` completes "expected the engine to".
   */
  call<T>(name: string, work: Promise<T>): Promise<T>;
  /** As `call`, but null for 404, 304 and 409: what should be gone or stopped already is. */
  callIfThere<T>(name: string, work: Promise<T>): Promise<T | null>;
}

const NOTHING_TO_DO = new Set([304, 404, 409]);

/** `dockerHost`: `unix:///path` or `tcp://host:port`. Throws SANDBOX_REQUEST_INVALID for others. */
export function connectEngine(dockerHost: string): Engine {
  return { docker: new Docker(toDockerOptions(dockerHost)), call, callIfThere };
}

async function call<T>(name: string, work: Promise<T>): Promise<T> {
  try {
    return await within(work, CALL_MS_MAX, () =>
      sandboxError('SANDBOX_ENGINE_UNAVAILABLE', {
        message: `expected the engine to ${name} within ${CALL_MS_MAX} ms, got no answer`,
      }),
    );
  } catch (error) {
    throw toEngineError(name, error);
  }
}

function callIfThere<T>(name: string, work: Promise<T>): Promise<T | null> {
  const orNull = work.catch((error: unknown) => {
    if (NOTHING_TO_DO.has(statusOf(error) ?? 0)) return null;
    throw error;
  });
  return call(name, orNull);
}

/** The agent is an option that dockerode's type declarations lack. */
function toDockerOptions(dockerHost: string): Docker.DockerOptions & { agent: Agent } {
  const target = parseDockerHost(dockerHost);
  return {
    // Set one by one, undefined too, or dockerode takes them from the environment (THREATS C36).
    socketPath: undefined,
    host: undefined,
    port: undefined,
    ca: undefined,
    cert: undefined,
    key: undefined,
    timeout: undefined,
    protocol: 'http',
    // A kept connection that the engine closes meanwhile would fail the next call.
    agent: new Agent({ keepAlive: false }),
    ...target,
  };
}

function parseDockerHost(
  dockerHost: string,
): { socketPath: string } | { host: string; port: number } {
  const path = /^unix:\/\/(\/.+)$/.exec(dockerHost)?.[1];
  if (path !== undefined) return { socketPath: path };
  const url = URL.canParse(dockerHost) ? new URL(dockerHost) : null;
  if (url?.protocol === 'tcp:' && url.hostname !== '' && url.port !== '') {
    return { host: url.hostname, port: Number(url.port) };
  }
  throw sandboxError('SANDBOX_REQUEST_INVALID', {
    message: `expected a Docker host, got "${toPrintable(dockerHost, 200)}"`,
    fix: 'Give it as unix:///path/to/docker.sock or tcp://host:port.',
  });
}

import { Agent, request as httpRequest } from 'node:http';
import type { Duplex } from 'node:stream';
import { inspect } from 'node:util';
import { toPrintable } from '@kervyxa/core';
import Docker from 'dockerode';
import { sandboxError } from '../errors.ts';
import { within } from './deadline.ts';
import { statusOf, toEngineError } from './engine-errors.ts';

/** An engine on a busy machine starts a container in seconds; one that takes longer than this is not working. */
const CALL_MS_MAX = 60_000;

type Target = { readonly socketPath: string } | { readonly host: string; readonly port: number };

// A kept connection that the engine closes meanwhile would fail the next call.
const agent = Object.assign(new Agent({ keepAlive: false }), {
  // docker-modem prints every request's options for a log that nobody reads, the agent's whole graph among them: a
  // sixth of a verification's processor time.
  [inspect.custom]: () => 'agent',
});

export interface Engine {
  readonly docker: Docker;
  /** Posts to a path and hands over the connection that the engine answers with. */
  upgrade(path: string): Promise<Duplex>;
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
  const target = parseDockerHost(dockerHost);
  return {
    docker: new Docker(toDockerOptions(target)),
    upgrade: (path) => upgrade(target, path),
    call,
    callIfThere,
  };
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
function toDockerOptions(target: Target): Docker.DockerOptions & { agent: Agent } {
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
    agent,
    ...target,
  };
}

/**
 * A request that turns into a bare connection. Not through dockerode: it sends a body, which can end up in front of
 * what the container reads.
 */
function upgrade(target: Target, path: string): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      ...target,
      agent,
      path,
      method: 'POST',
      headers: { Connection: 'Upgrade', Upgrade: 'tcp' },
    });
    request.on('upgrade', (_, socket, head) => {
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    request.on('response', (response) => {
      response.resume();
      const { statusCode } = response;
      reject(Object.assign(new Error('it did not open a connection'), { statusCode }));
    });
    request.on('error', reject);
    request.end();
  });
}

function parseDockerHost(dockerHost: string): Target {
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

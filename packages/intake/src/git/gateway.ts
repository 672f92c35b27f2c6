import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  Agent as HttpAgent,
  createServer,
  request as requestHttp,
  type IncomingMessage,
  type RequestOptions,
  type ServerResponse,
} from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { isIPv6, type AddressInfo, type LookupFunction } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { toPrintable } from '@kervyxa/core';
import type { Endpoint } from './address.ts';
import { countBytes } from './count-bytes.ts';
import type { IntakeLimits } from './limits.ts';

/**
 * The only place that a fetching git may connect to: a server of ours on loopback that passes on the two requests of
 * git's smart HTTP protocol, and answers to them that are in order. Git itself never meets the other side, so its
 * redirects, helpers, name look-ups, proxies and plain files are out of the game (ADR 0031).
 */
export interface Gateway {
  /** What git fetches from. */
  readonly url: string;
  /** Whether the other side has introduced itself as a git server. */
  readonly isReached: boolean;
  /** Whether the other side sent more bytes than all answers together may have. */
  readonly isFlooded: boolean;
  /** What was wrong with an answer last, as a sentence for the submitter; null where nothing was. */
  readonly trouble: string | null;
  /** Cuts every connection. */
  close(): Promise<void>;
}

/** Refs, progress and the wrapping of the pack come on top of the pack. */
const OTHER_BYTES_MAX = 64 * 1_048_576;
/** What git asks is as long as the list of refs that it wants. */
const REQUEST_BYTES_MAX = 16 * 1_048_576;

export async function openGateway(
  endpoint: Endpoint,
  { packBytesMax }: Pick<IntakeLimits, 'packBytesMax'>,
): Promise<Gateway> {
  const side = createOtherSide(endpoint);
  const path = `/${randomUUID()}`;
  const bytesMax = packBytesMax + OTHER_BYTES_MAX;
  const state = { isReached: false, isFlooded: false, trouble: null as string | null, bytes: 0 };

  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const route = ROUTES.find(({ method, target }) => isFor(request, method, `${path}${target}`));
    if (route === undefined) throw new Trouble('git asked for something else');
    const answer = await side.ask(route, request);
    const problem = problemOf(answer, route.type);
    if (problem !== null) {
      answer.destroy();
      throw new Trouble(problem);
    }
    if (route.method === 'GET') state.isReached = true;
    response.writeHead(200, { 'content-type': route.type, 'cache-control': 'no-cache' });
    // Git holds a whole introduction in memory, and writes a pack to the disk.
    const answerBytesMax = route.method === 'GET' ? OTHER_BYTES_MAX : bytesMax;
    let answerBytes = 0;
    const counter = countBytes((bytes) => {
      answerBytes += bytes;
      state.bytes += bytes;
      state.isFlooded ||= answerBytes > answerBytesMax || state.bytes > bytesMax;
      return !state.isFlooded;
    });
    await pipeline(answer, counter, response);
  };

  const server = createServer((request, response) => {
    pass(request, response).catch((error: unknown) => {
      // Git that went away has had enough, and that is no trouble of the server's.
      if (codeOf(error) !== 'ERR_STREAM_PREMATURE_CLOSE') state.trouble = toSentence(error);
      if (response.headersSent) response.destroy();
      else response.writeHead(502).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A connection that could not be taken: git is told by its end, and the fetch fails.
  server.on('error', (error) => {
    state.trouble = toSentence(error);
  });
  const { port } = server.address() as AddressInfo; // A server that listens on TCP has one.
  return {
    url: `http://127.0.0.1:${port}${path}`,
    get isReached() {
      return state.isReached;
    },
    get isFlooded() {
      return state.isFlooded;
    },
    get trouble() {
      return state.trouble;
    },
    close: async () => {
      side.close();
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

interface Route {
  readonly method: 'GET' | 'POST';
  readonly target: string;
  /** Of the answer. Any other server's files git would fetch one by one, past its own checks (THREATS G06). */
  readonly type: string;
}

const ROUTES: readonly Route[] = [
  {
    method: 'GET',
    target: '/info/refs?service=git-upload-pack',
    type: 'application/x-git-upload-pack-advertisement',
  },
  {
    method: 'POST',
    target: '/git-upload-pack',
    type: 'application/x-git-upload-pack-result',
  },
];

function isFor(request: IncomingMessage, method: string, target: string): boolean {
  return request.method === method && request.url === target;
}

/** Sends requests to the checked addresses of a URL, whatever its name may resolve to by now (THREATS G04). */
function createOtherSide({ url, addresses }: Endpoint) {
  const all = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  const lookup: LookupFunction = (_host, options, found) => {
    const [first] = all;
    if (options.all === true || first === undefined) found(null, all);
    else found(null, first.address, first.family);
  };
  const isSafe = url.protocol === 'https';
  // Explicit, because a variable of the environment could switch it off.
  const agent = isSafe ? new HttpsAgent({ rejectUnauthorized: true }) : new HttpAgent();
  return {
    ask: async ({ method, target }: Route, request: IncomingMessage): Promise<IncomingMessage> => {
      const options: RequestOptions = { method, headers: headersOf(request), agent, lookup };
      const send = isSafe ? requestHttps : requestHttp;
      const asked = send(new URL(`${url.href.replace(/\/$/, '')}${target}`), options);
      const answered = new Promise<IncomingMessage>((resolve, reject) => {
        asked.on('response', resolve).on('error', reject);
        asked.on('upgrade', (_answer, socket) => {
          socket.destroy();
          reject(new Trouble('the server wants to speak another protocol'));
        });
        asked.on('close', () => reject(new Trouble('the server ended the connection')));
      });
      const sent = pipeline(request, countBytes(withinRequest()), asked);
      // An answer may come before the whole request is read, and tells more than a broken pipe.
      sent.catch(() => undefined);
      return answered;
    },
    close: () => agent.destroy(),
  };
}

function withinRequest(): (bytes: number) => boolean {
  let total = 0;
  return (bytes) => {
    total += bytes;
    return total <= REQUEST_BYTES_MAX;
  };
}

const PASSED_HEADERS = ['user-agent', 'git-protocol', 'accept', 'content-type', 'content-encoding'];

function headersOf({ headers }: IncomingMessage): Record<string, string> {
  const names = [...PASSED_HEADERS, 'content-length'];
  const passed = names.flatMap((name): [string, string][] => {
    const value = headers[name];
    return typeof value === 'string' ? [[name, value]] : [];
  });
  // A few kilobytes can unfold to any number, and where nothing is said, any encoding will do.
  return { ...Object.fromEntries(passed), 'accept-encoding': 'identity' };
}

function problemOf({ statusCode = 0, headers }: IncomingMessage, type: string): string | null {
  if (statusCode >= 300 && statusCode < 400) {
    const location = toPrintable(headers.location ?? 'another place', 200);
    return `the URL redirects to ${location}; redirects are not followed: give the final URL`;
  }
  if (statusCode === 401 || statusCode === 403) {
    return `the server wants permission (status ${statusCode}); the repository must be public`;
  }
  if (statusCode !== 200) return `the server answered with status ${statusCode}`;
  if (headers['content-type']?.split(';', 1)[0] !== type) {
    return 'the server does not speak git\u2019s smart HTTP protocol';
  }
  if ((headers['content-encoding'] ?? 'identity') === 'identity') return null;
  return 'the server answered in an encoding that was not asked for';
}

/** What is wrong with the other side, as a sentence. */
class Trouble extends Error {
  override readonly name = 'Trouble';
}

/** With the system's code of a network error, like ECONNREFUSED or CERT_HAS_EXPIRED. */
function toSentence(error: unknown): string {
  if (error instanceof Trouble) return error.message;
  return `the connection to the server failed (${toPrintable(codeOf(error), 60)})`;
}

function codeOf(error: unknown): string {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : 'no reason given';
}

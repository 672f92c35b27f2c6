import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join, resolve } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { gunzipSync } from 'node:zlib';
import { endlessPack, floodBeforePack, givenPack, throttle } from './git-server-attacks.ts';
import { isolatedGitEnvironment } from './git-environment.ts';

export interface GitServerOptions {
  /** Folder of bare repositories; `<root>/<name>` is served as `<origin>/<name>`. */
  readonly root: string;
  /** Drops the `Git-Protocol` header, so that git speaks version 0: unadvertised ids are refused. */
  readonly protocolV0?: boolean;
  /** Answers every request with 302 to this URL plus the request's own path and query. */
  readonly redirectTo?: string;
  /** Answers every request with this status. */
  readonly status?: number;
  /** Serves the folder's files as they are, as a host without the smart protocol does. */
  readonly dumb?: boolean;
  /** Bytes a second of every answer's body; 0 never sends one. */
  readonly bytesPerSecond?: number;
  /** Answers a fetch with a pack that never ends. */
  readonly neverEnds?: boolean;
  /** Answers a fetch with this pack, whatever was asked for. */
  readonly pack?: Uint8Array;
  /** Sends this many bytes of terminal escapes as progress text before a pack. */
  readonly stderrFloodBytes?: number;
}

export interface ServedRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** Bytes of the answer's body so far. */
  responseBytes: number;
}

export interface GitServer {
  /** `http://127.0.0.1:<port>` */
  readonly origin: string;
  readonly requests: readonly ServedRequest[];
  url(name: string): string;
  /** Changes what the server does from the next request on; what is left out stays. */
  reconfigure(options: Partial<GitServerOptions>): void;
  /** Resolves at the first request whose path contains the text, one already seen included. */
  requested(text: string): Promise<ServedRequest>;
  /** Ends every connection and every git behind it. Safe to call twice. */
  close(): Promise<void>;
}

/** A smart-HTTP git server on loopback: real git behind it, and knobs to make it misbehave. */
export async function startGitServer(initial: GitServerOptions): Promise<GitServer> {
  let options = initial;
  const children = new Set<ChildProcess>();
  const requests: ServedRequest[] = [];
  const waiting = new Set<() => void>();
  const server = createServer((request, response) => {
    const served = { method: request.method ?? '', target: request.url ?? '', responseBytes: 0 };
    const target = new URL(served.target, 'http://localhost');
    requests.push(served);
    for (const wake of waiting) wake();
    // A client that goes away is normal here, and the cut answer shows the client anything else.
    answer({ options, request, response, target, children }, served).catch(() =>
      response.destroy(),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('expected a TCP address');
  const origin = `http://127.0.0.1:${address.port}`;
  const close = async (): Promise<void> => {
    for (const child of children) child.kill('SIGKILL');
    server.closeAllConnections();
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    await closed;
  };
  return {
    origin,
    requests,
    url: (name) => `${origin}/${name}`,
    reconfigure: (changes) => {
      options = { ...options, ...changes };
    },
    requested: (text) =>
      new Promise((found) => {
        const look = (): void => {
          const hit = requests.find(({ target }) => target.includes(text));
          if (hit === undefined) return;
          waiting.delete(look);
          found(hit);
        };
        waiting.add(look);
        look();
      }),
    close,
  };
}

/** One request on its way to its answer. */
interface Exchange {
  readonly options: GitServerOptions;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly target: URL;
  readonly children: Set<ChildProcess>;
}

async function answer(exchange: Exchange, served: ServedRequest): Promise<void> {
  const { options, request, response, target } = exchange;
  if (options.status !== undefined) {
    response.writeHead(options.status).end('this server answers with nothing else\n');
    return;
  }
  if (options.redirectTo !== undefined) {
    response.writeHead(302, { location: `${options.redirectTo}${served.target}` }).end();
    return;
  }
  const sent = await buffer(request);
  const body = sent[0] === 0x1f ? gunzipSync(sent) : sent;
  const isFetch = asksForPack(target, body);
  const stages: Transform[] = [];
  if (isFetch && options.stderrFloodBytes !== undefined) {
    stages.push(floodBeforePack(options.stderrFloodBytes));
  }
  if (options.bytesPerSecond !== undefined) stages.push(throttle(options.bytesPerSecond));
  stages.push(count(served));
  if (isFetch && options.neverEnds === true) {
    await pipeline([endlessPack(response, body), ...stages, response]);
  } else if (isFetch && options.pack !== undefined) {
    await pipeline([givenPack(response, body, options.pack), ...stages, response]);
  } else if (options.dumb === true) {
    await pipeline([await openFile(exchange), ...stages, response]);
  } else {
    await pipeline([runBackend(exchange, sent), takeCgiHead(response), ...stages, response]);
  }
}

/** The request that a pack answers; the same address also lists refs in version 2. */
function asksForPack(target: URL, body: Buffer): boolean {
  if (!target.pathname.endsWith('/git-upload-pack')) return false;
  return !body.includes('command=ls-refs');
}

function count(served: ServedRequest): Transform {
  return new Transform({
    transform(piece: Buffer, _encoding, done) {
      served.responseBytes += piece.length;
      done(null, piece);
    },
  });
}

async function openFile({ options, target, response }: Exchange): Promise<Readable> {
  const file = join(resolve(options.root), decodeURIComponent(target.pathname));
  const found = await stat(file).then(
    (facts) => facts.isFile(),
    () => false,
  );
  if (found) return createReadStream(file);
  response.statusCode = 404;
  return Readable.from([]);
}

/** Runs git's own CGI program and returns its answer, head included. */
function runBackend(exchange: Exchange, body: Buffer): Readable {
  const { options, request, response, target, children } = exchange;
  const { headers } = request;
  const protocol = options.protocolV0 === true ? undefined : headers['git-protocol'];
  const child = spawn('git', ['http-backend'], {
    env: {
      ...isolatedGitEnvironment,
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'safe.directory',
      GIT_CONFIG_VALUE_0: '*',
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_PROJECT_ROOT: resolve(options.root),
      PATH_INFO: decodeURIComponent(target.pathname),
      QUERY_STRING: target.search.slice(1),
      REQUEST_METHOD: request.method ?? 'GET',
      REMOTE_ADDR: '127.0.0.1',
      CONTENT_TYPE: headers['content-type'] ?? '',
      CONTENT_LENGTH: String(body.length),
      HTTP_CONTENT_ENCODING: headers['content-encoding'] ?? '',
      ...(typeof protocol === 'string' && { GIT_PROTOCOL: protocol }),
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  children.add(child);
  child.once('close', () => children.delete(child));
  response.once('close', () => child.kill('SIGKILL'));
  // A backend that answers without reading everything closes its input; its answer is what counts.
  child.stdin.on('error', () => child.stdin.destroy());
  child.stdin.end(body);
  return child.stdout;
}

/** Takes the head off a CGI answer and sets it on the response; the body passes through. */
function takeCgiHead(response: ServerResponse): Transform {
  let head: Buffer | null = Buffer.alloc(0);
  return new Transform({
    transform(piece: Buffer, _encoding, done) {
      if (head === null) {
        done(null, piece);
        return;
      }
      head = Buffer.concat([head, piece]);
      const end = head.indexOf('\r\n\r\n');
      if (end < 0) {
        done();
        return;
      }
      for (const line of head.subarray(0, end).toString().split('\r\n')) {
        const [name = '', value = ''] = line.split(/: (.*)/);
        if (name === 'Status') response.statusCode = Number.parseInt(value, 10);
        else response.setHeader(name, value);
      }
      const body = head.subarray(end + 4);
      head = null;
      done(null, body);
    },
  });
}

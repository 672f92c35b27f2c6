import { mkdtempSync, rmSync } from 'node:fs';
import {
  type ClientRequest,
  createServer,
  type IncomingMessage,
  request as forward,
} from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';

export interface EngineProxy {
  readonly dockerHost: string;
  /** Breaks every connection and takes no more, as an engine that died. */
  cut(): void;
  close(): Promise<void>;
}

export interface EngineProxyOptions {
  /** May change the text of a create body on its way to the engine. */
  readonly alterCreate?: (body: string) => string;
  /** Answers instead of the engine: a status and a message. */
  readonly answer?: (method: string, path: string) => { status: number; message: string } | null;
}

/** Stands between the sandbox and a real engine, to be an engine that can do less, or dies. */
export async function startEngineProxy(
  dockerHost: string,
  { alterCreate, answer }: EngineProxyOptions = {},
): Promise<EngineProxy> {
  const folder = mkdtempSync(join(tmpdir(), 'kervyxa-proxy-'));
  const enginePath = new URL(dockerHost).pathname;
  const sockets = new Set<Socket>();
  const server = createServer((incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming;
    const own = answer?.(method, url) ?? null;
    if (own !== null) {
      outgoing.writeHead(own.status, { 'content-type': 'application/json' });
      outgoing.end(JSON.stringify({ message: own.message }));
      return;
    }
    const toEngine = forward({ socketPath: enginePath, method, path: url }, (response) => {
      outgoing.writeHead(response.statusCode ?? 500, response.headers);
      outgoing.flushHeaders();
      response.pipe(outgoing);
      response.on('error', () => outgoing.destroy());
    });
    toEngine.on('error', () => outgoing.destroy());
    outgoing.on('close', () => toEngine.destroy());
    const type = headers['content-type'];
    if (type !== undefined) toEngine.setHeader('content-type', type);
    void pass(incoming, toEngine, url.includes('/containers/create') ? alterCreate : undefined);
  });
  server.on('upgrade', (incoming: IncomingMessage, socket: Socket, head) => {
    const engine = connect(enginePath);
    const lines = [`${incoming.method} ${incoming.url} HTTP/1.1`];
    for (const [name, value] of Object.entries(incoming.headers)) lines.push(`${name}: ${value}`);
    engine.write(`${lines.join('\r\n')}\r\n\r\n`);
    engine.write(head);
    engine.pipe(socket).pipe(engine);
    for (const end of [engine, socket]) {
      end.on('error', () => end.destroy());
      end.on('close', () => [engine, socket].forEach((other) => other.destroy()));
    }
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  const path = join(folder, 'docker.sock');
  await new Promise<void>((resolve) => {
    server.listen(path, resolve);
  });
  const cut = (): void => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return {
    dockerHost: `unix://${path}`,
    cut,
    close: async () => {
      cut();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function pass(
  incoming: IncomingMessage,
  toEngine: ClientRequest,
  alter: EngineProxyOptions['alterCreate'],
): Promise<void> {
  const body = await buffer(incoming);
  toEngine.end(alter === undefined ? body : alter(body.toString()));
}

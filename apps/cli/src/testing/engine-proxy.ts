import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { request } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';

export interface EngineProxy {
  /** `unix://…` */
  readonly dockerHost: string;
  /** Paths, in the engine's API, of the containers and volumes that were created through this proxy. */
  readonly created: ReadonlySet<string>;
  /** Resolves when the engine next says the text to the command line, as the output of a container for one. */
  carries(text: string): Promise<void>;
  /** Those of what was created that the engine still has. */
  leftovers(): Promise<string[]>;
  /** Breaks every connection and refuses new ones, as an engine that was stopped does. Safe to call twice. */
  cut(): Promise<void>;
}

/** A socket between the command line and the real engine: it sees what is made there, and a test can cut it. */
export async function startEngineProxy(
  socketPath: string,
  dockerHost: string,
): Promise<EngineProxy> {
  const address = toAddress(dockerHost);
  const created = new Set<string>();
  const sockets = new Set<Socket>();
  const listeners = new Set<(bytes: Buffer) => void>();
  // Each direction ends by itself: a client that has sent all still waits for its answer.
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const engine = connect({ ...address, allowHalfOpen: true });
    engine.on('data', (bytes) => {
      noteCreated(bytes, created);
      for (const listener of listeners) listener(bytes);
    });
    for (const [from, to] of [
      [client, engine],
      [engine, client],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      // A side that ends is ended by the pipe, once all has been passed on; one that breaks breaks the other.
      from.on('error', () => to.destroy());
      from.on('close', () => sockets.delete(from));
    }
  });
  server.listen(socketPath);
  await once(server, 'listening');
  return {
    dockerHost: `unix://${socketPath}`,
    created,
    carries: (wanted) =>
      new Promise((heard) => {
        const listener = (bytes: Buffer) => {
          if (!bytes.includes(wanted)) return;
          listeners.delete(listener);
          heard();
        };
        listeners.add(listener);
      }),
    async leftovers() {
      const paths = [...created];
      const statuses = await Promise.all(paths.map((path) => statusOf(address, path)));
      return paths.filter((_path, index) => statuses[index] !== 404);
    },
    async cut() {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
      rmSync(socketPath, { force: true });
    },
  };
}

/** The engine answers 201 with the id of a new container or the name of a new volume, all in one piece. */
function noteCreated(bytes: Buffer, created: Set<string>): void {
  const answer = bytes.toString('latin1');
  if (!answer.startsWith('HTTP/1.1 201')) return;
  const [, container] = /"Id":"([0-9a-f]{64})"/.exec(answer) ?? [];
  if (container !== undefined) created.add(`/containers/${container}/json`);
  const [, volume] = /"Name":"([^"]+)"/.exec(answer) ?? [];
  if (volume !== undefined) created.add(`/volumes/${volume}`);
}

function toAddress(dockerHost: string) {
  const url = new URL(dockerHost);
  if (url.protocol !== 'unix:') return { host: url.hostname, port: Number(url.port) };
  return { path: url.pathname };
}

async function statusOf(address: ReturnType<typeof toAddress>, path: string): Promise<number> {
  const target = 'port' in address ? address : { socketPath: address.path };
  const asked = request({ ...target, path }).end();
  const [response] = await once(asked, 'response');
  await text(response);
  return response.statusCode;
}

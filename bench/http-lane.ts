import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly key: string;
  /** JSON text. */
  readonly body?: string;
}

export interface HttpAnswer {
  readonly status: number;
  readonly body: string;
}

export interface HttpLane {
  /** One at a time. */
  send(request: HttpRequest): Promise<HttpAnswer>;
  close(): void;
}

/**
 * A connection that stays open and sends one request after another, with next to no work of its own: a client of a
 * library takes as much of the processor as the server that is to be measured.
 */
export async function openHttpLane(url: string): Promise<HttpLane> {
  const { hostname, port, host } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await once(socket, 'connect');
  return {
    send: async ({ method, path, key, body }) => {
      const length = body === undefined ? '' : `content-length: ${Buffer.byteLength(body)}\r\n`;
      const type = body === undefined ? '' : 'content-type: application/json\r\n';
      const head = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${key}\r\n`;
      socket.write(`${head}${type}${length}\r\n${body ?? ''}`);
      return readAnswer(socket);
    },
    close: () => socket.destroy(),
  };
}

function readAnswer(socket: Socket): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    let held = Buffer.alloc(0);
    const end = (): void => {
      socket.off('data', take).off('error', fail).off('close', fail);
    };
    const fail = (cause?: unknown): void => {
      end();
      reject(new Error('expected an answer, got the end of the connection', { cause }));
    };
    const take = (piece: Buffer): void => {
      held = Buffer.concat([held, piece]);
      const headEnd = held.indexOf('\r\n\r\n');
      if (headEnd < 0) return;
      const head = held.toString('latin1', 0, headEnd);
      const [, length] = /^content-length: (\d+)\r?$/im.exec(head) ?? [];
      const [, status] = /^HTTP\/1\.1 (\d{3}) /.exec(head) ?? [];
      const body = held.subarray(headEnd + 4);
      if (length === undefined || status === undefined) return fail(new Error(head));
      if (body.length < Number(length)) return;
      end();
      resolve({ status: Number(status), body: body.toString() });
    };
    socket.on('data', take).on('error', fail).on('close', fail);
  });
}

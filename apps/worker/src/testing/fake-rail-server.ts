import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';

export const RAIL_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

/** How the service behaves at one request; those after the last behave as the last. */
export type Behaviour =
  | 'accepts'
  /** Pays, and lets the caller wait for ever. */
  | 'accepts_silently'
  /** Pays, and breaks the connection. */
  | 'accepts_and_dies'
  /** Pays, answers, and lets the caller wait for the end of the answer. */
  | 'accepts_slowly'
  | 'answers_500'
  | 'redirects'
  /** 500 with an answer that never ends. */
  | 'floods';

export interface RailRequest {
  readonly id: string;
  readonly body: string;
}

export interface FakeRailServer {
  readonly url: string;
  readonly requests: readonly RailRequest[];
  /** Minor units by payout id; an id is paid once. */
  readonly paid: ReadonlyMap<string, bigint>;
  /** Requests whose signature was wrong, or that came to another path. */
  readonly strays: readonly string[];
  close(): Promise<void>;
}

/** A payment service on loopback that pays an id once, and behaves badly on demand. */
export async function startFakeRailServer(
  behaviours: readonly [Behaviour, ...Behaviour[]],
): Promise<FakeRailServer> {
  const requests: RailRequest[] = [];
  const paid = new Map<string, bigint>();
  const strays: string[] = [];
  const webhook = new Webhook(RAIL_SECRET);
  const server = createServer((request, response) => {
    void answer(request, response);
  });
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = Buffer.concat(await request.toArray()).toString();
    const headers = request.headers as Record<string, string>; // Those of webhooks come once each.
    try {
      if (request.url !== '/pay' || request.method !== 'POST') throw new Error('expected /pay');
      webhook.verify(body, headers);
    } catch (error) {
      strays.push(`${request.method} ${request.url}: ${String(error)}`);
      response.writeHead(400).end();
      return;
    }
    const id = headers['webhook-id'] ?? '';
    const behaviour = behaviours[Math.min(requests.length, behaviours.length - 1)] ?? 'accepts';
    requests.push({ id, body });
    if (behaviour.startsWith('accepts') && !paid.has(id)) {
      paid.set(id, BigInt(JSON.parse(body).data.amountMinor));
    }
    behave(behaviour, response);
  };
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/pay`,
    requests,
    paid,
    strays,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

function behave(behaviour: Behaviour, response: ServerResponse): void {
  const flood = (): void => {
    while (response.write('x'.repeat(65_536))) if (response.destroyed) return;
  };
  const acts: Record<Behaviour, () => void> = {
    accepts: () => response.writeHead(204).end(),
    accepts_silently: () => undefined,
    accepts_and_dies: () => response.destroy(),
    accepts_slowly: () => response.writeHead(200).write('{'),
    answers_500: () => response.writeHead(500).end('no funds\u001b[31m today'),
    redirects: () => response.writeHead(307, { location: '/elsewhere' }).end(),
    floods: () => {
      response.writeHead(500).on('drain', flood);
      flood();
    },
  };
  acts[behaviour]();
}

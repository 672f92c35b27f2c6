import type { Socket } from 'node:net';
import type { Api } from '../context.ts';

const TIDY_MS = 50;

/**
 * Has `close` wait for requests and for nothing else. Connections that were opened for later, or are kept for a next
 * request that never comes, would hold it up for as long as their clients like.
 */
export function closePromptly(app: Api): void {
  const open = new Set<Socket>();
  app.server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });

  function tidy(): void {
    app.server.closeIdleConnections();
    // One that has never said anything counts as busy there.
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
  }

  app.addHook('preClose', async () => {
    if (!app.server.listening) return;
    const timer = setInterval(tidy, TIDY_MS);
    app.server.once('close', () => clearInterval(timer));
  });
}

import { createApi, type ApiDependencies } from './app.ts';

export interface ListenOptions {
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
  /** How long requests that are under way may take once it stops. */
  readonly drainMs: number;
}

export interface RunningApi {
  /** Such as `http://127.0.0.1:8080`. */
  readonly url: string;
  /** Takes no more requests, ends event streams, and lets what is under way finish for `drainMs`. Idempotent. */
  stop(): Promise<void>;
}

/** Creates the API and listens. Rejects with the system's error where the port is not to be had. */
export async function startApi(
  dependencies: ApiDependencies,
  { host, port, drainMs }: ListenOptions,
): Promise<RunningApi> {
  const app = await createApi(dependencies);
  const url = await app.listen({
    host,
    port,
    listenTextResolver: (address) => `listening on ${address}; /docs there tries every call`,
  });
  let stopping: Promise<void> | null = null;

  async function stop(): Promise<void> {
    const force = setTimeout(() => app.server.closeAllConnections(), drainMs);
    try {
      await app.close();
    } finally {
      clearTimeout(force);
    }
  }

  return { url, stop: () => (stopping ??= stop()) };
}

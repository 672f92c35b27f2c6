import type { Readable } from 'node:stream';
import type Docker from 'dockerode';
import type { Engine } from './engine.ts';

/** The engine notes a kill after it has sent it, and the container may be dead before. */
const NOTED_MS_MAX = 1_000;

/**
 * Whether the engine was told to kill a dead container, or killed it because it shuts down. Its init can't be killed
 * from inside, so this is nobody's doing who runs in it, while the exit status is that of a command that kills itself.
 * Asked only of runs that died of a signal and were not stopped by us.
 */
export async function wasKilledFromOutside(
  engine: Engine,
  container: Docker.Container,
  state: { readonly StartedAt: string; readonly FinishedAt: string },
): Promise<boolean> {
  const query = {
    // Seconds with a fraction; the engine's times have nanoseconds, which a number has no room for.
    since: Date.parse(state.StartedAt) / 1_000,
    until: (Date.parse(state.FinishedAt) + NOTED_MS_MAX) / 1_000,
    filters: { container: [container.id], event: ['kill'] },
  };
  const asked = engine.docker.getEvents(query).then(async (events) => {
    // The list ends by itself, at `until`.
    for await (const chunk of events as Readable) if (String(chunk).trim() !== '') return true;
    return false;
  });
  return engine.call('list what happened to a run', asked);
}

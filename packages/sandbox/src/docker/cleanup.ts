import { setTimeout as pause } from 'node:timers/promises';
import { sandboxError } from '../errors.ts';
import type { Engine } from './engine.ts';
import { ROLE_LABEL, SESSION_LABEL } from './labels.ts';

/** Between the first volume of a session and its running keeper lies less than this, or its program is dead. */
const OPENING_MS_MAX = 120_000;
/** Looks after which something is left, the last one after every removal; others may be removing the same. */
const LOOKS_MAX = 6;
const PAUSE_MS = 100;

interface Leftover {
  readonly id: string;
  readonly session: string;
  readonly role: string;
  readonly state: string;
  readonly createdMs: number;
}

/**
 * Removes every container and volume of a session and looks that they are gone; returns how many there were. Goes by
 * the label, not by what we remember: the answer to a create call may have been lost. Throws SANDBOX_CLEANUP_FAILED.
 */
export async function removeSession(engine: Engine, session: string): Promise<number> {
  const filter = `${SESSION_LABEL}=${session}`;
  const removed = new Set<string>();
  let failure: unknown;
  for (let look = 1; ; look += 1) {
    const [containers, volumes] = await Promise.all([
      listContainers(engine, filter),
      listVolumes(engine, filter),
    ]);
    if (containers.length + volumes.length === 0) return removed.size;
    if (look === LOOKS_MAX) break;
    for (const { id } of [...containers, ...volumes]) removed.add(id);
    failure = await removeAll(engine, containers, volumes);
    // Containers and then volumes take two: what is left after that is being removed by another, or not to be removed.
    if (look > 2) await pause(PAUSE_MS * look);
  }
  throw sandboxError('SANDBOX_CLEANUP_FAILED', {
    message: `expected no container or volume of session ${session} to be left, got some`,
    fix: `Remove what carries the label ${filter}.`,
    cause: failure,
  });
}

/** Keepers go last: a volume is removed with its keeper only when no run uses it any more. Returns what failed. */
async function removeAll(
  engine: Engine,
  containers: readonly Leftover[],
  volumes: readonly Leftover[],
): Promise<unknown> {
  const isKeeper = ({ role }: Leftover): boolean => role === 'keeper' || role === 'filler';
  const runs = containers.filter((container) => !isKeeper(container));
  const keepers = containers.filter(isKeeper);
  const outcomes = [
    ...(await Promise.allSettled(runs.map(({ id }) => removeContainer(engine, id)))),
    ...(await Promise.allSettled(keepers.map(({ id }) => removeContainer(engine, id)))),
  ];
  // Volumes of a container go with it. One whose container was never made is left.
  if (containers.length === 0) {
    outcomes.push(
      ...(await Promise.allSettled(
        volumes.map(({ id }) =>
          engine.callIfThere('remove a volume', engine.docker.getVolume(id).remove()),
        ),
      )),
    );
  }
  return outcomes.find((outcome) => outcome.status === 'rejected')?.reason;
}

/** Kills and removes a container with the volumes that are its own; fine where it is gone. */
export async function removeContainer(engine: Engine, id: string): Promise<void> {
  const container = engine.docker.getContainer(id);
  const removal = container.remove({ force: true, v: true }).then(() => true);
  if ((await engine.callIfThere('remove a container', removal)) === true) return;
  // It is gone, or another program is removing it and the engine refuses to do so twice.
  await engine.callIfThere('see a container go', container.wait({ condition: 'removed' }));
}

/**
 * The sessions on the engine whose program is dead. A keeper runs exactly as long as its program is connected, on
 * whichever host that is; a session without a running keeper is dead, unless it may still be opening.
 */
export async function findDeadSessions(engine: Engine): Promise<string[]> {
  const [containers, volumes, info] = await Promise.all([
    listContainers(engine, SESSION_LABEL),
    listVolumes(engine, SESSION_LABEL),
    engine.call('describe itself', engine.docker.info()),
  ]);
  return planReaping([...containers, ...volumes], Date.parse(info.SystemTime));
}

/** Pure part of `findDeadSessions`; `engineNowMs` is the engine's clock, as are the times of what it made. */
export function planReaping(leftovers: readonly Leftover[], engineNowMs: number): string[] {
  const dead: string[] = [];
  for (const [session, parts] of Map.groupBy(leftovers, (part) => part.session)) {
    const keeper = parts.find(({ role }) => role === 'keeper');
    const isOpening = parts.every(({ createdMs }) => engineNowMs - createdMs < OPENING_MS_MAX);
    const mayBeOpening = isOpening && (keeper === undefined || keeper.state === 'created');
    if (keeper?.state !== 'running' && !mayBeOpening) dead.push(session);
  }
  return dead;
}

async function listContainers(engine: Engine, label: string): Promise<Leftover[]> {
  const containers = await engine.call(
    'list containers',
    engine.docker.listContainers({ all: true, filters: { label: [label] } }),
  );
  return containers.map(({ Id, Labels, State, Created }) => ({
    id: Id,
    session: Labels[SESSION_LABEL] ?? '',
    role: Labels[ROLE_LABEL] ?? '',
    state: State,
    createdMs: Created * 1_000,
  }));
}

async function listVolumes(engine: Engine, label: string): Promise<Leftover[]> {
  const { Volumes } = await engine.call(
    'list volumes',
    engine.docker.listVolumes({ filters: { label: [label] } }),
  );
  return (Volumes ?? []).map((volume) => ({
    id: volume.Name,
    session: volume.Labels[SESSION_LABEL] ?? '',
    role: volume.Labels[ROLE_LABEL] ?? '',
    state: '',
    createdMs: createdAt(volume),
  }));
}

/** The engine's type declarations leave out when a volume was made. */
function createdAt(volume: object): number {
  const text = 'CreatedAt' in volume ? String(volume.CreatedAt) : '';
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? 0 : ms;
}

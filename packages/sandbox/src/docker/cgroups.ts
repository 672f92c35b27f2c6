import {
  access,
  constants,
  mkdir,
  readdir,
  readFile,
  rmdir,
  stat,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';

const CGROUP_ROOT = '/sys/fs/cgroup';
/** Parent cgroups of ours are named so, and by their session. */
const PREFIX = 'kervyxa-';

/** What the kernel counted for one run; null where it can't tell. */
export interface CgroupFacts {
  readonly peakMemoryBytes: number | null;
  readonly oomKilled: boolean | null;
  readonly pidsLimitHit: boolean | null;
}

/**
 * Two cgroups that we put around one run's own, which is gone with it: they count what is below them, and stay. The
 * outer one holds the limit on processes. A fork that it refuses was counted by the inner one first, whose highest
 * count is then one more than the limit; nothing else makes it so.
 */
export interface RunCgroup {
  /** The inner one, for the create body. */
  readonly parent: string;
  /** The run's own limit must be this, one above the outer one's, or it would refuse before anything is counted. */
  readonly pidsLimit: number;
  /**
   * Has what TCP sockets hold counted and limited, which the first version does not do by itself: a run could keep
   * hundreds of MB in its loopback, seen by no limit and no measure. Call while the container waits.
   */
  limitSockets(containerId: string, bytesMax: number): Promise<void>;
  facts(): Promise<CgroupFacts>;
  /** Call after the container is removed. Throws where the kernel keeps them. */
  remove(): Promise<void>;
}

export interface HostCgroups {
  /** Makes them. */
  createRun(session: string, run: string, pidsMax: number): Promise<RunCgroup>;
  removeSession(session: string): Promise<void>;
}

/** Parent cgroups that nothing has used for so long belong to nobody that lives. */
const STALE_MS = 120_000;

/**
 * Finds the engine's cgroups as files of this host, or null: the engine may be on another one, give its cgroups to
 * systemd, which removes ours with their last process, or we may lack the right to make them. `containerId` is of
 * a running container of ours with no cgroup parent: seeing its cgroup proves that it is the same host.
 */
export async function findHostCgroups(
  engine: { readonly cgroupVersion: '1' | '2'; readonly cgroupDriver: string },
  containerId: string,
): Promise<HostCgroups | null> {
  if (engine.cgroupDriver !== 'cgroupfs') return null;
  const hierarchies = await findHierarchies(engine.cgroupVersion);
  const isHere = await Promise.all([
    stat(join(hierarchies.memory, 'docker', containerId)),
    access(hierarchies.memory, constants.W_OK),
    access(hierarchies.pids, constants.W_OK),
  ]).then(
    () => true,
    () => false,
  );
  return isHere ? new MountedCgroups(engine.cgroupVersion, hierarchies) : null;
}

interface Hierarchies {
  readonly memory: string;
  readonly pids: string;
  /** Every one in which the engine makes cgroups. */
  readonly all: readonly string[];
}

async function findHierarchies(version: '1' | '2'): Promise<Hierarchies> {
  if (version === '2') return { memory: CGROUP_ROOT, pids: CGROUP_ROOT, all: [CGROUP_ROOT] };
  const names = await readdir(CGROUP_ROOT).catch(nullIfMissing);
  return {
    memory: join(CGROUP_ROOT, 'memory'),
    pids: join(CGROUP_ROOT, 'pids'),
    all: (names ?? []).map((name) => join(CGROUP_ROOT, name)),
  };
}

class MountedCgroups implements HostCgroups {
  readonly #version: '1' | '2';
  readonly #hierarchies: Hierarchies;

  constructor(version: '1' | '2', hierarchies: Hierarchies) {
    this.#version = version;
    this.#hierarchies = hierarchies;
  }

  async createRun(session: string, run: string, pidsMax: number): Promise<RunCgroup> {
    const outer = join(PREFIX + session, run);
    const inner = join(outer, 'inner');
    const { pids } = this.#hierarchies;
    await mkdir(join(pids, inner), { recursive: true });
    // The second version asks for controllers level by level; the engine does so below the outer one.
    if (this.#version === '2') {
      for (const level of ['', PREFIX + session, outer]) {
        await writeFile(join(pids, level, 'cgroup.subtree_control'), '+memory +pids');
      }
    }
    await writeFile(join(pids, outer, 'pids.max'), String(pidsMax));
    return {
      parent: `/${inner}`,
      pidsLimit: pidsMax + 1,
      limitSockets: async (containerId, bytesMax) => {
        if (this.#version === '2') return;
        const own = join(this.#hierarchies.memory, inner, containerId);
        const limit = writeFile(join(own, 'memory.kmem.tcp.limit_in_bytes'), String(bytesMax));
        await limit.catch(nullIfMissing); // A kernel built without it counts none.
      },
      facts: () => this.#readFacts(outer, inner, pidsMax),
      remove: async () => {
        await this.#remove(inner);
        await this.#remove(outer);
      },
    };
  }

  removeSession(session: string): Promise<void> {
    return removeSessionTrees(this.#hierarchies, session);
  }

  async #readFacts(outer: string, inner: string, pidsMax: number): Promise<CgroupFacts> {
    const { memory, pids } = this.#hierarchies;
    const peakFile = this.#version === '1' ? 'memory.max_usage_in_bytes' : 'memory.peak';
    const [peakBytes, peakSocketBytes, pidsPeak, memoryEvents] = await Promise.all([
      readNumber(join(memory, outer, peakFile)),
      this.#version === '1'
        ? readNumber(join(memory, outer, 'memory.kmem.tcp.max_usage_in_bytes'))
        : null,
      readNumber(join(pids, inner, 'pids.peak')),
      // The first version keeps no sum of kills above the run's own cgroup.
      this.#version === '1' ? null : readOptional(join(memory, outer, 'memory.events')),
    ]);
    const oomKills = /^oom_kill (\d+)$/m.exec(memoryEvents ?? '')?.[1];
    return {
      // The sum of two peaks: never less than the peak of the sum.
      peakMemoryBytes: peakBytes === null ? null : peakBytes + (peakSocketBytes ?? 0),
      oomKilled: oomKills === undefined ? null : Number(oomKills) > 0,
      pidsLimitHit: pidsPeak === null ? null : pidsPeak > pidsMax,
    };
  }

  async #remove(cgroup: string): Promise<void> {
    const folders = this.#hierarchies.all.map((hierarchy) => join(hierarchy, cgroup));
    await Promise.all(folders.map((folder) => rmdir(folder).catch(nullIfMissing)));
  }
}

/**
 * Removes parent cgroups that killed programs left on this host: those of sessions known to be dead, and those that
 * are old. One of a living session, of whichever engine, holds a container or is young: the kernel keeps the first,
 * we the second.
 */
export async function removeDeadCgroups(
  version: '1' | '2',
  deadSessions: readonly string[],
  nowMs: number,
): Promise<void> {
  const hierarchies = await findHierarchies(version);
  for (const session of deadSessions) await removeSessionTrees(hierarchies, session);
  for (const hierarchy of hierarchies.all) {
    const names = await readdir(hierarchy).catch(nullIfMissing);
    for (const name of names ?? []) {
      if (name.startsWith(PREFIX)) await removeIfStale(join(hierarchy, name), nowMs);
    }
  }
}

async function removeSessionTrees({ all }: Hierarchies, session: string): Promise<void> {
  await Promise.all(all.map((hierarchy) => removeTree(join(hierarchy, PREFIX + session))));
}

/** Removes a cgroup and those below it. */
async function removeTree(folder: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(nullIfMissing);
  for (const entry of entries ?? []) {
    if (entry.isDirectory()) await removeTree(join(folder, entry.name));
  }
  if (entries !== null) await rmdir(folder).catch(nullIfMissing);
}

async function removeIfStale(folder: string, nowMs: number): Promise<void> {
  const found = await stat(folder).catch(nullIfMissing);
  if (found === null || nowMs - found.mtimeMs < STALE_MS) return;
  await removeTree(folder).catch((error: unknown) => {
    if (!isBusy(error)) throw error;
  });
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EBUSY';
}

async function readNumber(path: string): Promise<number | null> {
  const text = await readOptional(path);
  return text !== null && /^\d+\n$/.test(text) ? Number(text) : null;
}

function readOptional(path: string): Promise<string | null> {
  return readFile(path, 'utf8').catch(nullIfMissing);
}

function nullIfMissing(error: unknown): null {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  if (code === 'ENOENT' || code === 'ENOTDIR') return null;
  throw error;
}

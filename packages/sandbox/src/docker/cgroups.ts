import { type FSWatcher, watch } from 'node:fs';
import { access, constants, readdir, readFile, rmdir, stat } from 'node:fs/promises';
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

/** The cgroup that we put around one run's own: it counts what is below it, and is still there after the run. */
export interface RunCgroup {
  /** For the create body. */
  readonly parent: string;
  /** Call between start and release. */
  watch(containerId: string): void;
  facts(): Promise<CgroupFacts>;
  /** Call after the container is removed. Throws where the kernel keeps it. */
  remove(): Promise<void>;
}

export interface HostCgroups {
  runCgroup(session: string, run: string): RunCgroup;
  removeSession(session: string): Promise<void>;
  /** Sessions that have left a cgroup here. */
  sessions(): Promise<string[]>;
}

/**
 * Finds the engine's cgroups as files of this host, or null: the engine may be on another one, give its cgroups to
 * systemd, which removes ours with their last process, or we may lack the right to remove them. `containerId` is of
 * a running container of ours with no cgroup parent: seeing its cgroup proves that it is the same host.
 */
export async function findHostCgroups(
  engine: { readonly cgroupVersion: '1' | '2'; readonly cgroupDriver: string },
  containerId: string,
): Promise<HostCgroups | null> {
  if (engine.cgroupDriver !== 'cgroupfs') return null;
  const memoryRoot = engine.cgroupVersion === '1' ? join(CGROUP_ROOT, 'memory') : CGROUP_ROOT;
  const isHere = await Promise.all([
    stat(join(memoryRoot, 'docker', containerId)),
    access(memoryRoot, constants.W_OK),
  ]).then(
    () => true,
    () => false,
  );
  if (!isHere) return null;
  return engine.cgroupVersion === '1'
    ? hostCgroups(memoryRoot, await listHierarchies(), readFactsV1)
    : hostCgroups(memoryRoot, [CGROUP_ROOT], readFactsV2);
}

async function listHierarchies(): Promise<string[]> {
  const names = await readdir(CGROUP_ROOT);
  return names.map((name) => join(CGROUP_ROOT, name));
}

function hostCgroups(
  memoryRoot: string,
  hierarchies: readonly string[],
  readFacts: (parent: string) => Promise<CgroupFacts>,
): HostCgroups {
  const removeEverywhere = async (parent: string): Promise<void> => {
    await Promise.all(hierarchies.map((hierarchy) => removeFolder(join(hierarchy, parent))));
  };
  const pidsRoot = memoryRoot === CGROUP_ROOT ? CGROUP_ROOT : join(CGROUP_ROOT, 'pids');
  return {
    runCgroup: (session, run) => {
      const parent = `/${PREFIX}${session}/${run}`;
      let fork: ForkWatch | null = null;
      return {
        parent,
        watch: (containerId) => {
          fork = watchForks(join(pidsRoot, parent, containerId, 'pids.events'));
        },
        facts: async () => {
          const facts = await readFacts(parent);
          return { ...facts, pidsLimitHit: facts.pidsLimitHit ?? fork?.wasRefused() ?? null };
        },
        remove: async () => {
          fork?.close();
          await removeEverywhere(parent);
        },
      };
    },
    removeSession: (session) => removeEverywhere(`${PREFIX}${session}`),
    sessions: async () =>
      (await readdir(memoryRoot))
        .filter((name) => name.startsWith(PREFIX))
        .map((name) => name.slice(PREFIX.length)),
  };
}

async function readFactsV1(parent: string): Promise<CgroupFacts> {
  const peak = await readNumber(join(CGROUP_ROOT, 'memory', parent, 'memory.max_usage_in_bytes'));
  return { peakMemoryBytes: peak, oomKilled: null, pidsLimitHit: null };
}

async function readFactsV2(parent: string): Promise<CgroupFacts> {
  const folder = join(CGROUP_ROOT, parent);
  const [peak, memoryEvents, pidsEvents] = await Promise.all([
    readNumber(join(folder, 'memory.peak')),
    readOptional(join(folder, 'memory.events')),
    readOptional(join(folder, 'pids.events')),
  ]);
  const oomKills = /^oom_kill (\d+)$/m.exec(memoryEvents ?? '')?.[1];
  const refused = /^max ([1-9]\d*)$/m.test(pidsEvents ?? '');
  return {
    peakMemoryBytes: peak,
    oomKilled: oomKills === undefined ? null : Number(oomKills) > 0,
    // Kernels before 6.11 count only in the run's own cgroup, so 0 here says nothing.
    pidsLimitHit: refused ? true : null,
  };
}

interface ForkWatch {
  wasRefused(): boolean;
  close(): void;
}

/**
 * Watches the run's own pids.events, which the kernel touches whenever it refuses a fork: the file is gone with the
 * run, the notice is not. Null where it can't be watched.
 */
function watchForks(path: string): ForkWatch | null {
  let refused = false;
  let watcher: FSWatcher;
  try {
    watcher = watch(path, { persistent: false }, (event) => {
      if (event === 'change') refused = true;
    });
  } catch (error) {
    if (error instanceof Error) return null;
    throw error;
  }
  watcher.on('error', () => watcher.close());
  return { wasRefused: () => refused, close: () => watcher.close() };
}

async function readNumber(path: string): Promise<number | null> {
  const text = await readOptional(path);
  return text !== null && /^\d+\n$/.test(text) ? Number(text) : null;
}

async function readOptional(path: string): Promise<string | null> {
  return readFile(path, 'utf8').catch((error: unknown) => nullIfMissing(error));
}

async function removeFolder(path: string): Promise<void> {
  await rmdir(path).catch((error: unknown) => nullIfMissing(error));
}

function nullIfMissing(error: unknown): null {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  if (code === 'ENOENT' || code === 'ENOTDIR') return null;
  throw error;
}

import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import Docker from 'dockerode';
import { expect, it } from 'vitest';
import { HOSTILE_SCRIPTS } from './hostile/attacks.ts';
import { openHostileStage, type HostileStage } from './hostile/stage.ts';

// What a host has to bear: see SECURITY.md.

const STORY_MS_MAX = 300_000;
const DAEMON_BYTES_MAX = 400 * 1_048_576;
/** Of twenty submissions captures, results and logs are kept, 64 KiB of output each at the most. */
const KEPT_BYTES_MAX = 8 * 1_048_576;
/** Write-ahead logs come in files of 16 MiB, ahead of need. */
const DATABASE_BYTES_MAX = 64 * 1_048_576;
/** Other programs use the engine too; what twenty hostile scripts write is more than a hundred times this. */
const ENGINE_BYTES_MAX = 16 * 1_048_576;

// Keeps R-HOST-SAFE.
it(
  'stands twenty hostile submissions, one after another: each fails for its own reason, and nothing of them is left',
  { timeout: STORY_MS_MAX },
  async () => {
    await using stack = new AsyncDisposableStack();
    const stage = await openHostileStage(stack, AbortSignal.timeout(STORY_MS_MAX));
    const engine = new Docker({ socketPath: new URL(stage.proxy.dockerHost).pathname });
    const { DockerRootDir } = await engine.info();
    const cgroups = new Set(findCgroups());
    const before = await measure(stage, DockerRootDir);

    const said: Record<string, string> = {};
    for (const { name } of HOSTILE_SCRIPTS) {
      const { state, verdict, reason } = await stage.submit(name);
      said[name] = `${state} ${verdict} ${reason}`;
    }
    expect(said).toEqual(
      Object.fromEntries(
        HOSTILE_SCRIPTS.map(({ name, reason }) => [name, `FAILED FAIL ${reason}`]),
      ),
    );

    expect(peakMemoryOf(stage.pid)).toBeLessThan(DAEMON_BYTES_MAX);
    expect(stage.proxy.created.size).toBeGreaterThan(HOSTILE_SCRIPTS.length * 4);
    await expect.poll(() => stage.proxy.leftovers()).toEqual([]);
    // What others have made meanwhile goes with them.
    const fresh = findCgroups().filter((path) => !cgroups.has(path));
    await expect.poll(() => fresh.filter((path) => existsSync(path))).toEqual([]);
    const names = [...stage.proxy.created].map((path) => basename(path.replace(/\/json$/, '')));
    expect(mentions(names)).toEqual([]);
    expect(readdirSync(stage.temporary)).toEqual([]);

    await expect
      .poll(async () => (await measure(stage, DockerRootDir)).engine)
      .toBeLessThan(before.engine + ENGINE_BYTES_MAX);
    const after = await measure(stage, DockerRootDir);
    expect(after.database).toBeLessThan(before.database + DATABASE_BYTES_MAX);
    expect(after.kept).toBeLessThan(before.kept + KEPT_BYTES_MAX);
  },
);

interface DiskUse {
  readonly engine: number;
  readonly database: number;
  readonly kept: number;
}

async function measure({ home }: HostileStage, engineFolder: string): Promise<DiskUse> {
  const [engine, all, database] = await Promise.all([
    bytesIn(engineFolder),
    bytesIn(home),
    bytesIn(join(home, 'postgres')),
  ]);
  return { engine, database, kept: all - database };
}

async function bytesIn(folder: string): Promise<number> {
  // A file that goes while it is counted makes du complain, and is not counted.
  const { stdout } = await promisify(execFile)('sh', [
    '-c',
    'du -sxk "$0" 2>/dev/null || true',
    folder,
  ]);
  return Number.parseInt(stdout, 10) * 1_024;
}

function peakMemoryOf(pid: number): number {
  const [, kilobytes] =
    /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) * 1_024;
}

/** Where the kernel keeps our parents of runs. */
function findCgroups(): string[] {
  const roots = ['/sys/fs/cgroup', ...foldersIn('/sys/fs/cgroup')];
  return roots.flatMap((root) =>
    foldersIn(root).filter((path) => basename(path).startsWith('kervyxa-')),
  );
}

function foldersIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(folder, name));
}

/** Processes and mounts that have to do with a container or volume of these names. */
function mentions(names: readonly string[]): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) =>
      ['cgroup', 'mountinfo'].map((file) => ({ file, text: textOf(`/proc/${pid}/${file}`) })),
    )
    .flatMap(({ file, text }) =>
      names.filter((name) => text.includes(name)).map((name) => `${file} ${name}`),
    );
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    // A process that has ended meanwhile.
    if (
      error instanceof Error &&
      'code' in error &&
      ['ENOENT', 'ESRCH', 'EINVAL'].includes(String(error.code))
    ) {
      return '';
    }
    throw error;
  }
}

import { randomInt } from 'node:crypto';
import { toPrintable } from '@kervyxa/core';
import { sandboxError } from '../errors.ts';
import type { SandboxLimits, WorkspaceStrategy } from '../port.ts';
import { findHostCgroups, type HostCgroups } from './cgroups.ts';
import { CpuPool } from './cpus.ts';
import type { Engine } from './engine.ts';
import { HostMemory, type ReadAvailableBytes } from './host-memory.ts';

/** What was found out about one engine, and what its sessions share. */
export interface EngineState {
  readonly cpus: CpuPool;
  /** Null until a session has tried. */
  strategy: WorkspaceStrategy | null;
  /** Null where the host's cgroups can't be seen; undefined until a keeper has shown it. */
  cgroups: HostCgroups | null | undefined;
  readonly cgroupDriver: string;
  readonly cgroupVersion: '1' | '2';
  /** What starts the containers of runs. */
  readonly runtime: string;
  /** Of this host; to be looked at where its cgroups are the engine's. */
  readonly hostMemory: HostMemory;
}

/** Throws SANDBOX_RUNTIME_UNAVAILABLE where the engine has no runtime of that name. Null is the engine's own choice. */
export async function loadEngineState(
  engine: Engine,
  strategy: WorkspaceStrategy | null,
  runtime: string | null,
  readAvailable: ReadAvailableBytes,
): Promise<EngineState> {
  const info = await engine.call('describe itself', engine.docker.info());
  const runtimes = Object.keys(info.Runtimes ?? {});
  if (runtime !== null && !runtimes.includes(runtime)) {
    throw sandboxError('SANDBOX_RUNTIME_UNAVAILABLE', {
      message: `expected an engine with the container runtime "${toPrintable(runtime, 100)}", got one with ${toPrintable(runtimes.join(', '), 300) || 'none'}`,
      fix: 'Name it under "runtimes" in the daemon.json of the engine and start that anew, or choose another.',
    });
  }
  const cpuCount: number = info.NCPU;
  return {
    cpus: new CpuPool(cpuCount, randomInt(cpuCount)),
    strategy,
    cgroups: undefined,
    cgroupDriver: info.CgroupDriver,
    cgroupVersion: info.CgroupVersion === '2' ? '2' : '1',
    runtime: runtime ?? info.DefaultRuntime ?? '',
    hostMemory: new HostMemory(info.MemTotal, readAvailable),
  };
}

/** Looks once, by a running container without a cgroup parent, whether this host's cgroups are the engine's. */
export async function lookForCgroups(state: EngineState, containerId: string): Promise<void> {
  state.cgroups ??= await findHostCgroups(state, containerId);
}

/** Throws SANDBOX_HOST_TOO_SMALL: a run that got less than its contract says could fail for that. */
export function assertFits(state: EngineState, limits: SandboxLimits): void {
  const cpusWanted = Math.ceil(limits.cpuCount);
  if (cpusWanted > state.cpus.size || limits.memoryBytes > state.hostMemory.bytesForRuns) {
    throw sandboxError('SANDBOX_HOST_TOO_SMALL', {
      message:
        `expected an engine with ${cpusWanted} CPUs and ${limits.memoryBytes} bytes of memory, ` +
        `got one with ${state.cpus.size} and ${state.hostMemory.bytesForRuns} for runs`,
      fix: 'Run it on a larger host.',
    });
  }
}

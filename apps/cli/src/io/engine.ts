import { join } from 'node:path';
import type { Clock } from '@kervyxa/core';
import { createGitIntake } from '@kervyxa/intake/git';
import { createDockerSandbox } from '@kervyxa/sandbox/docker';
import { ensureReady, stateFolder } from '@kervyxa/setup';
import { toImageIds, toToolsImage } from './runtime-images.ts';

export interface EngineOptions {
  readonly clock: Clock;
  /** Whether a person may be asked. */
  readonly interactive: boolean;
  readonly allowedOrigins: readonly string[];
  /** Null: the engine's default. */
  readonly containerRuntime: string | null;
  readonly log: (line: string) => void;
  /** The changing line of what takes long. */
  readonly live?: (line: string) => void;
  readonly signal: AbortSignal;
}

export interface Engine {
  readonly sandbox: ReturnType<typeof createDockerSandbox>;
  readonly intake: ReturnType<typeof createGitIntake>;
  /** Runtime name → image id. */
  readonly runtimes: ReadonlyMap<string, string>;
}

/**
 * This machine's engine, images and git, made ready. A runtime that the operator chose is tried at once. Throws SETUP_*
 * and what a trial run throws, such as SANDBOX_RUNTIME_UNAVAILABLE.
 */
export async function openEngine(options: EngineOptions): Promise<Engine> {
  const { clock, allowedOrigins, containerRuntime, ...setup } = options;
  const ready = await ensureReady(setup);
  const runtimes = toImageIds(ready.runtimes);
  const toolsImage = toToolsImage(runtimes);
  const cacheFolder = join(stateFolder(), 'git');
  const { dockerHost } = ready;
  const sandbox = createDockerSandbox({ dockerHost, toolsImage, clock, containerRuntime });
  if (containerRuntime !== null) await sandbox.inspect(options.signal);
  return {
    sandbox,
    intake: createGitIntake({ cacheFolder, allowedOrigins, clock }),
    runtimes,
  };
}

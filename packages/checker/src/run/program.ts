import { loadBuiltin } from '../builtins/load-builtin.ts';
import { checkerError } from '../errors.ts';
import { SCRIPT_RUNTIME } from '../package/implementation.ts';
import type { StageProgram } from '../package/checker-package.ts';
import type { CheckDeps } from './check-deps.ts';

/** Below /input: where each program that is no image of its own is found, whatever its author called it. */
const SCRIPT_PATH = 'checker/checker.py';

/** How a stage's program is started. */
export interface ProgramPlan {
  /** The image id on this engine. */
  readonly image: string;
  /** Null: the image's own entrypoint. */
  readonly command: string | null;
  /** By path below /input. */
  readonly files: ReadonlyMap<string, Uint8Array>;
}

/** Throws CHECKER_RUNTIME_UNBOUND, and what `resolveImage` of the sandbox throws. */
export async function planProgram(
  deps: CheckDeps,
  program: StageProgram,
  signal: AbortSignal,
): Promise<ProgramPlan> {
  if (program.kind === 'image') {
    const image = await deps.sandbox.resolveImage(program.reference, signal);
    return { image, command: null, files: new Map() };
  }
  if (program.kind === 'script') {
    return {
      image: await resolveRuntime(deps, SCRIPT_RUNTIME, signal),
      command: `python3 /input/${SCRIPT_PATH}`,
      files: new Map([[SCRIPT_PATH, program.content]]),
    };
  }
  const { runtime, command, files } = await loadBuiltin(program.name);
  return { image: await resolveRuntime(deps, runtime, signal), command, files };
}

/** The catalogue's name for what runs a program; null for one that is an image of its own. */
export async function runtimeOf(program: StageProgram): Promise<string | null> {
  if (program.kind === 'builtin') return (await loadBuiltin(program.name)).runtime;
  return program.kind === 'script' ? SCRIPT_RUNTIME : null;
}

async function resolveRuntime(
  { sandbox, runtimes }: CheckDeps,
  name: string,
  signal: AbortSignal,
): Promise<string> {
  const reference = runtimes.get(name);
  if (reference === undefined) {
    throw checkerError('CHECKER_RUNTIME_UNBOUND', {
      message: `expected an image bound to ${name}, which runs the checker, got none`,
      fix: 'Run kervyxa runtimes, which binds the catalogue to the images of this machine.',
    });
  }
  return sandbox.resolveImage(reference, signal);
}

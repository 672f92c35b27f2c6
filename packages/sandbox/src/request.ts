import { toPrintable } from '@kervyxa/core';
import { misused, sandboxError } from './errors.ts';
import type { RunRequest, SandboxLimits, SessionRequest } from './port.ts';

/** Linux takes 128 KiB in one argument; half of it leaves room, and no honest command is longer. */
const COMMAND_BYTES_MAX = 64 * 1_024;
/** setTimeout's own limit is 2^31 − 1 ms; a day is more than any contract may ask for. */
const TIMEOUT_MS_MAX = 86_400_000;
/** Below it node hangs without a word instead of failing (THREATS C17). */
export const PIDS_MIN = 64;
/** The engine refuses less than 6 MiB, and a shell needs more than that. */
export const MEMORY_BYTES_MIN = 16 * 1_024 * 1_024;
/** One page; a workspace of 0 would be one without a limit (THREATS C02). */
const WORKSPACE_BYTES_MIN = 4_096;
const RUNS_MAX = 1_000;
/** A line that no pipe splits and any shell reads at once. */
const STDIN_LINE = /^[\x20-\x7e]{1,1024}$/;
const PATH_BYTES_MAX = 4_095;
const NAME_BYTES_MAX = 255;

/** Throws SANDBOX_REQUEST_INVALID where the request can't be given to a container, and SANDBOX_MISUSED. */
export function assertSessionRequest(request: SessionRequest): void {
  const { limits, runsMax } = request;
  if (request.layout === 'inputs' && hasMoreThanInputs(request)) {
    throw misused('nothing beside the tree with layout inputs', 'more');
  }
  const floors: Readonly<Record<keyof SandboxLimits, number>> = {
    memoryBytes: MEMORY_BYTES_MIN,
    cpuCount: 0.01,
    pidsMax: PIDS_MIN,
    workspaceBytes: WORKSPACE_BYTES_MIN,
    outputBytes: 0,
  };
  for (const [name, floor] of Object.entries(floors)) {
    const value = limits[name as keyof SandboxLimits]; // The keys of `floors` are exactly these.
    const isWhole = name === 'cpuCount' || Number.isSafeInteger(value);
    if (!isWhole || !Number.isFinite(value) || value < floor) {
      throw invalid(`expected limits.${name} of at least ${floor}, got ${value}`);
    }
  }
  if (!Number.isInteger(runsMax) || runsMax < 0 || runsMax > RUNS_MAX) {
    throw invalid(`expected runsMax from 0 to ${RUNS_MAX}, got ${runsMax}`);
  }
}

/**
 * Throws SANDBOX_REQUEST_INVALID where the engine would refuse the command: that must not look like its own fault. And
 * SANDBOX_MISUSED for what the layout does not have.
 */
export function assertRunRequest(
  { command, timeoutMs, stdinLine, package: access }: RunRequest,
  { layout = 'workspace' }: Pick<SessionRequest, 'layout'>,
): void {
  if (command === null && layout !== 'inputs') {
    throw misused('a command with layout workspace', 'that of the image');
  }
  if (layout === 'inputs' && access !== 'none') {
    throw misused('package none with layout inputs', access);
  }
  if (command?.includes('\0')) throw invalid('expected a command without NUL, got one with it');
  const bytes = Buffer.byteLength(command ?? '');
  if (bytes > COMMAND_BYTES_MAX) {
    throw invalid(`expected a command of at most ${COMMAND_BYTES_MAX} bytes, got ${bytes}`);
  }
  if (!Number.isInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > TIMEOUT_MS_MAX) {
    throw invalid(`expected timeoutMs from 1 to ${TIMEOUT_MS_MAX}, got ${timeoutMs}`);
  }
  if (stdinLine !== undefined && !STDIN_LINE.test(stdinLine)) {
    throw invalid('expected stdinLine of 1 to 1,024 printable ASCII characters, got another');
  }
}

/** The parts of a path below the folder of a run. Throws SANDBOX_REQUEST_INVALID for any that could lead out of it. */
export function parseWorkspacePath(path: string): string[] {
  const parts = path.split('/');
  const isSafe =
    !path.includes('\0') &&
    Buffer.byteLength(path) <= PATH_BYTES_MAX &&
    parts.every(
      (part) =>
        part !== '' && part !== '.' && part !== '..' && Buffer.byteLength(part) <= NAME_BYTES_MAX,
    );
  if (!isSafe) {
    throw invalid(`expected a plain path inside the workspace, got "${toPrintable(path, 200)}"`);
  }
  return parts;
}

function hasMoreThanInputs(request: SessionRequest): boolean {
  const { verifierPackage, probeInputs = null, dependencies = null } = request;
  const { keptPaths = [], additions } = request;
  const hasArchive = [verifierPackage, probeInputs, dependencies].some((each) => each !== null);
  return hasArchive || keptPaths.length > 0 || additions !== undefined;
}

function invalid(message: string): Error {
  return sandboxError('SANDBOX_REQUEST_INVALID', { message });
}

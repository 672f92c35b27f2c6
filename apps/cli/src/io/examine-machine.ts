import { join } from 'node:path';
import { type AppError, isAppError } from '@kervyxa/core';
import { createGitIntake } from '@kervyxa/intake/git';
import type { Sandbox } from '@kervyxa/sandbox';
import { createDockerSandbox } from '@kervyxa/sandbox/docker';
import { diagnose, findEngine, loadRuntimes, stateFolder, type Check } from '@kervyxa/setup';
import type { Host } from '../host.ts';
import { toGitCheck, toRuntimeCheck, toSandboxChecks, toSettingsCheck } from '../machine-checks.ts';
import { parseSettings, type Settings } from '../settings.ts';
import { toImageIds, toToolsImage } from './runtime-images.ts';

/** Looks at everything that a verification needs here, and installs nothing. */
export async function examineMachine(
  { clock, env }: Pick<Host, 'clock' | 'env'>,
  signal: AbortSignal,
): Promise<Check[]> {
  const checks = await diagnose();
  const git = await checkGit(clock, signal);
  const settings = readSettings(env);
  if (settings instanceof Error) return [...checks, git, toSettingsCheck(settings)];
  // Where the engine or its images are at fault, that is said already; a trial run could only say it again.
  const isUsable = checks.every(({ status }) => status !== 'fail');
  const engine = isUsable ? await findEngine() : null;
  if (engine === null) return [...checks, git];
  const sandbox = createDockerSandbox({
    dockerHost: engine.dockerHost,
    toolsImage: toToolsImage(toImageIds(loadRuntimes())),
    clock,
    containerRuntime: settings.containerRuntime,
  });
  return [...checks, git, ...(await checkSandbox(sandbox, signal))];
}

/** The settings, or what is wrong with one of them. */
function readSettings(env: Host['env']): Settings | AppError {
  try {
    return parseSettings(env);
  } catch (error) {
    if (!isAppError(error)) throw error;
    return error;
  }
}

async function checkSandbox(sandbox: Sandbox, signal: AbortSignal): Promise<Check[]> {
  try {
    return toSandboxChecks(await sandbox.inspect(signal));
  } catch (error) {
    if (!isAppError(error) || error.code !== 'SANDBOX_RUNTIME_UNAVAILABLE') throw error;
    return [toRuntimeCheck(error)];
  }
}

async function checkGit(clock: Host['clock'], signal: AbortSignal): Promise<Check> {
  try {
    const cacheFolder = join(stateFolder(), 'git');
    const intake = createGitIntake({ cacheFolder, allowedOrigins: [], clock });
    return toGitCheck(await intake.gitVersion(signal));
  } catch (error) {
    signal.throwIfAborted();
    return toGitCheck(error instanceof Error ? error : new Error(String(error)));
  }
}

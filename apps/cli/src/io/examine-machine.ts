import { join } from 'node:path';
import { createGitIntake } from '@kervyxa/intake/git';
import { createDockerSandbox } from '@kervyxa/sandbox/docker';
import { diagnose, findEngine, loadRuntimes, stateFolder, type Check } from '@kervyxa/setup';
import type { Host } from '../host.ts';
import { toGitCheck, toSandboxChecks } from '../machine-checks.ts';
import { toImageIds, toToolsImage } from './runtime-images.ts';

/** Looks at everything that a verification needs here, and installs nothing. */
export async function examineMachine(
  { clock }: Pick<Host, 'clock'>,
  signal: AbortSignal,
): Promise<Check[]> {
  const checks = await diagnose();
  const git = await checkGit(clock, signal);
  // Where the engine or its images are at fault, that is said already; a trial run could only say it again.
  const isUsable = checks.every(({ status }) => status !== 'fail');
  const engine = isUsable ? await findEngine() : null;
  if (engine === null) return [...checks, git];
  const sandbox = createDockerSandbox({
    dockerHost: engine.dockerHost,
    toolsImage: toToolsImage(toImageIds(loadRuntimes())),
    clock,
  });
  return [...checks, git, ...toSandboxChecks(await sandbox.inspect(signal))];
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

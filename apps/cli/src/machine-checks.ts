import { type AppError, toPrintable } from '@kervyxa/core';
import type { GitVersion } from '@kervyxa/intake/git';
import type { EngineFacts } from '@kervyxa/sandbox';
import type { Check } from '@kervyxa/setup';

const GIT_EXPECTED = 'a git that intake can use, with its security fixes';

/** Git's version as intake judges it, or why git could not be asked. */
export function toGitCheck(git: GitVersion | Error): Check {
  const check = { id: 'git', expected: GIT_EXPECTED };
  if (git instanceof Error) {
    const fix = 'install git (Debian: apt-get install git)';
    return { ...check, status: 'fail', found: toPrintable(git.message), fix };
  }
  const { version, note } = git;
  switch (git.status) {
    case 'fixed':
      return { ...check, status: 'ok', found: version, fix: '' };
    case 'backport_unknown':
      return { ...check, status: 'warn', found: version, fix: `keep it updated: ${note ?? ''}` };
    case 'too_old':
      return { ...check, status: 'fail', found: version, fix: `update git: ${note ?? ''}` };
  }
}

/** What a trial run on the engine showed: each thing that it can't do is a warning of its own. */
export function toSandboxChecks({
  strategy,
  cgroupVersion,
  runtime,
  limitations,
}: EngineFacts): Check[] {
  const found = `workspaces by ${strategy}, cgroup v${cgroupVersion}, runtime ${toPrintable(runtime, 64)}`;
  return [
    { id: 'sandbox', status: 'ok', found, expected: 'a trial run', fix: '' },
    ...limitations.map((limitation): Check => ({
      id: 'sandbox',
      status: 'warn',
      found: limitation,
      expected: '',
      fix: 'verifications run all the same; an engine on this machine, up to date and with cgroups, has no such limit',
    })),
  ];
}

/** A variable that nothing would start with. */
export function toSettingsCheck({ message, fix }: Pick<AppError, 'message' | 'fix'>): Check {
  const expected = 'settings in the environment that can be read';
  return { id: 'settings', status: 'fail', found: message, expected, fix: fix ?? '' };
}

/** The operator chose a container runtime that the engine does not have. */
export function toRuntimeCheck({ message, fix }: Pick<AppError, 'message' | 'fix'>): Check {
  const expected = 'the runtime of KERVYXA_CONTAINER_RUNTIME';
  return { id: 'sandbox', status: 'fail', found: message, expected, fix: fix ?? '' };
}

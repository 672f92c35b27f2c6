import { join } from 'node:path';
import { createGitIntake } from '@kervyxa/intake/git';
import { loadRuntimes, stateFolder } from '@kervyxa/setup';
import type { OpenBase } from '../commands/lint.ts';
import { parseAllowedOrigins } from '../git-allow.ts';
import type { Host } from '../host.ts';

/** Base trees through this machine's git, under its operator's settings. */
export function openBaseRepository({ env, clock }: Pick<Host, 'env' | 'clock'>): OpenBase {
  return async (repository, baseCommit, signal) => {
    const allowedOrigins = parseAllowedOrigins(env['KERVYXA_GIT_ALLOW']);
    const cacheFolder = join(stateFolder(), 'git');
    const intake = createGitIntake({ cacheFolder, allowedOrigins, clock });
    const base = await intake.openBase(repository, baseCommit, signal);
    return { base, settings: { allowedOrigins, catalogue: [...loadRuntimes().keys()] } };
  };
}

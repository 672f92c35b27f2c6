import { join } from 'node:path';
import { createGitIntake } from '@kervyxa/intake/git';
import { stateFolder } from '@kervyxa/setup';
import type { OpenBase } from '../commands/lint.ts';
import type { Host } from '../host.ts';

/** Base trees through this machine's git. */
export function openBaseRepository(
  { clock }: Pick<Host, 'clock'>,
  allowedOrigins: readonly string[],
): OpenBase {
  return (repository, baseCommit, signal) => {
    const cacheFolder = join(stateFolder(), 'git');
    const intake = createGitIntake({ cacheFolder, allowedOrigins, clock });
    return intake.openBase(repository, baseCommit, signal);
  };
}

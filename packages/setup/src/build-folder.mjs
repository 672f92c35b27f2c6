import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { BUILD_TIME_SECONDS } from './archive.mjs';
import { systemPath } from './debian.mjs';
import { SetupError } from './errors.mjs';
import { mountsBelow } from './own-engine.mjs';

/**
 * Removes what killed builds left. Their processes are gone by now: `endNotedGroup`.
 * @param {string} buildFolder
 */
export function removeDeadBuilds(buildFolder) {
  if (!existsSync(buildFolder)) return;
  for (const name of readdirSync(buildFolder)) {
    const folder = join(buildFolder, name);
    const [mount] = mountsBelow(folder);
    // Removing through a mount would remove what is mounted.
    if (mount !== undefined) {
      throw new SetupError('SETUP_BUILD_FAILED', {
        message: `an interrupted build left a mount at ${mount}`,
        fix: `as root: umount -R ${mount}, then repeat the command`,
      });
    }
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

/**
 * @param {string} folder for temporary files, so that they are removed with it
 * @returns {NodeJS.ProcessEnv}
 */
export function buildEnvironment(folder) {
  // Settings that `npm run` hands down are meant for its own project, not for `npm pack`.
  const kept = Object.entries(process.env).filter(
    ([name]) =>
      !/^npm_(config_(global|local_prefix|prefix|workspaces?|dry_run|json)$|package_|lifecycle_)/.test(
        name,
      ),
  );
  return {
    ...Object.fromEntries(kept),
    PATH: systemPath(),
    TMPDIR: folder,
    LC_ALL: 'C.UTF-8',
    SOURCE_DATE_EPOCH: String(BUILD_TIME_SECONDS),
  };
}

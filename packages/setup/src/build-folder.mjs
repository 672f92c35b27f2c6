import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BUILD_TIME_SECONDS } from './archive.mjs';
import { systemPath } from './debian.mjs';
import { SetupError } from './errors.mjs';
import { mountsBelow } from './own-engine.mjs';
import { processStamp, readIfThere, sendSignal } from './processes.mjs';

const GROUP_FILE = 'process-group';

/**
 * Removes what killed builds left: their programs, which may still be writing, then their folders.
 * @param {string} buildFolder
 */
export function removeDeadBuilds(buildFolder) {
  if (!existsSync(buildFolder)) return;
  for (const name of readdirSync(buildFolder)) {
    const folder = join(buildFolder, name);
    endGroup(readIfThere(join(folder, GROUP_FILE)) ?? '');
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

/** @param {string} note pid and stamp of a process group's leader */
function endGroup(note) {
  const [pid, stamp] = note.split(' ');
  if (stamp === undefined) return;
  // A dead leader's number is not given out again while its group lives.
  const life = processStamp(Number(pid));
  if (life === null || life === stamp) sendSignal(-Number(pid), 'SIGKILL');
}

/**
 * Notes which processes work in a build's folder, for whoever cleans up after a kill.
 * @param {string} folder
 * @param {number} pid leader of the process group
 */
export function noteGroup(folder, pid) {
  writeFileSync(join(folder, GROUP_FILE), `${pid} ${processStamp(pid)}`);
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

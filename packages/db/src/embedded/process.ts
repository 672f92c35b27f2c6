import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isErrno } from './errno.ts';
import type { Layout } from './layout.ts';

/** The running server of the folder; null where none runs. */
export function runningPid(layout: Layout): number | null {
  const pid = readPid(layout);
  return pid !== null && isServer(pid, layout) ? pid : null;
}

/** Whether that process is the folder's server: a number may long be another's. */
export function isServer(pid: number, { data }: Layout): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(data);
  } catch (error) {
    // ESRCH: it ended while it was read.
    if (isErrno(error, 'ENOENT', 'ESRCH')) return false;
    throw error;
  }
}

/**
 * What a server leaves behind that was killed. It looks only whether a process of that number lives, so after a restart
 * of the machine or container it would take anybody for its predecessor, and refuse to start. Under the start lock.
 */
export function removeStaleFiles(layout: Layout): void {
  if (runningPid(layout) !== null) return;
  const pid = readPid(layout);
  if (pid === null || !existsSync(`/proc/${pid}`)) return;
  for (const path of [layout.pidFile, join(layout.socketFolder, '.s.PGSQL.5432.lock')]) {
    rmSync(path, { force: true });
  }
}

function readPid({ pidFile }: Layout): number | null {
  try {
    const pid = Number(readFileSync(pidFile, 'utf8').split('\n')[0]);
    return Number.isSafeInteger(pid) && pid > 1 ? pid : null;
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return null;
    throw error;
  }
}

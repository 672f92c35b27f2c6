import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { messageOf, systemCode } from './errors.mjs';

const POLL_MS = 100;

/**
 * Names one life of a process, so that a pid that was given to another process, or that is from before a reboot, is
 * not taken for it. Where there is no /proc the pid has to do.
 * @param {number} pid
 * @returns {string | null} null when there is no such process, or only its zombie
 */
export function processStamp(pid) {
  if (process.platform !== 'linux') return isAlive(pid) ? `${pid}` : null;
  const stat = readIfThere(`/proc/${pid}/stat`);
  const boot = readIfThere('/proc/sys/kernel/random/boot_id');
  return stat === null || boot === null ? null : parseStamp(stat, boot.trim());
}

/**
 * @param {string} stat text of /proc/PID/stat
 * @param {string} boot
 * @returns {string | null}
 */
export function parseStamp(stat, boot) {
  // The second field is the program's name in brackets and may hold anything, brackets and spaces included.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, startTicks] = [fields[0], fields[19]];
  if (state === undefined || startTicks === undefined || 'ZX'.includes(state)) return null;
  return `${boot}:${startTicks}`;
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) === 'EPERM';
  }
}

/**
 * @typedef {object} RunningProcess
 * @property {number} pid
 * @property {number} parent
 * @property {number} group
 * @property {number} user the real user's number; -1 where it can't be read
 * @property {string[]} argv what the process says of itself: anybody can say anything
 */

/**
 * Running processes and their command lines; those that this user may not read are left out.
 * @returns {RunningProcess[]}
 */
export function listProcesses() {
  const found = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const argv = readIfThere(`/proc/${name}/cmdline`)?.split('\0').slice(0, -1) ?? [];
    const stat = readIfThere(`/proc/${name}/stat`);
    if (stat === null || parseStamp(stat, '') === null) continue;
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [pid, parent, group] = [Number(name), Number(fields[1]), Number(fields[2])];
    // Not from the owner of the folder in /proc, which a process can make root's (PR_SET_DUMPABLE).
    const user = Number(/^Uid:\t(\d+)/m.exec(readIfThere(`/proc/${name}/status`) ?? '')?.[1] ?? -1);
    found.push({ pid, parent, group, user, argv });
  }
  return found;
}

/**
 * @param {number} pid a process, or minus a process group
 * @param {NodeJS.Signals} signal
 * @returns {boolean} false when there was nobody to get it
 */
export function sendSignal(pid, signal) {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    if (systemCode(error) === 'ESRCH') return false;
    throw new Error(`can't send ${signal} to ${pid}: ${messageOf(error)}`, { cause: error });
  }
}

/**
 * @param {string} path
 * @returns {string | null} null when it isn't there or may not be read; a process can vanish at any moment
 */
export function readIfThere(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EACCES', 'ESRCH'].includes(systemCode(error) ?? '')) return null;
    throw error;
  }
}

/**
 * @param {number[]} pids
 * @param {number} withinMs
 * @returns {Promise<boolean>} false when one of them still lives after that
 */
export async function waitUntilGone(pids, withinMs) {
  const lives = new Map(pids.map((pid) => [pid, processStamp(pid)]));
  const deadlineMs = performance.now() + withinMs;
  for (;;) {
    const alive = [...lives].filter(
      ([pid, stamp]) => stamp !== null && processStamp(pid) === stamp,
    );
    if (alive.length === 0) return true;
    if (performance.now() > deadlineMs) return false;
    await delay(POLL_MS);
  }
}

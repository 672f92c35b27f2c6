import { linkSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { systemCode } from './errors.mjs';
import { processStamp, readIfThere } from './processes.mjs';

const POLL_MS = 200;

/**
 * Runs `work` while no other process does so in the same folder. A lock whose holder is dead is taken over.
 *
 * The lock is the file with the highest number, and its text names the holder. Taking it means creating the next
 * number, which `link` grants to one process only; a holder leaves a file that names nobody. So no process ever
 * removes a lock that might just have become somebody else's, which is where a plain lock file breaks.
 * @template T
 * @param {string} folder exists
 * @param {{ log: (line: string) => void, signal?: AbortSignal | undefined }} options
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withLock(folder, { log, signal }, work) {
  const locks = join(folder, 'lock');
  mkdirSync(locks, { recursive: true });
  let number = tryLock(locks);
  for (let told = false; typeof number !== 'number'; number = tryLock(locks)) {
    if (!told) log(`another set-up is running (pid ${number.pid}): waiting for it`);
    told = true;
    await delay(POLL_MS, undefined, signal && { signal });
  }
  try {
    return await work();
  } finally {
    replaceFile(join(locks, String(number)), '');
  }
}

/**
 * @param {string} locks
 * @returns {number | { pid: number }} the number of our lock, or who holds it
 */
export function tryLock(locks) {
  const last = lastNumber(locks);
  const holder = parseHolder(readIfThere(join(locks, String(last))) ?? '');
  if (holder !== null && processStamp(holder.pid) === holder.stamp) return { pid: holder.pid };

  const next = last + 1;
  const draft = join(locks, `draft-${process.pid}`);
  writeFileSync(draft, `${process.pid} ${processStamp(process.pid)}`);
  try {
    linkSync(draft, join(locks, String(next)));
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return tryLock(locks);
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  // Whoever read the folder long ago may have created a number that others have already passed.
  if (lastNumber(locks) > next) {
    rmSync(join(locks, String(next)), { force: true });
    return tryLock(locks);
  }
  removeOlder(locks, next);
  return next;
}

/** @param {string} locks */
function lastNumber(locks) {
  return Math.max(0, ...numbersIn(locks));
}

/** @param {string} locks */
function numbersIn(locks) {
  return readdirSync(locks)
    .filter((name) => /^\d{1,15}$/.test(name))
    .map(Number);
}

/**
 * @param {string} locks
 * @param {number} number
 */
function removeOlder(locks, number) {
  for (const older of numbersIn(locks)) {
    if (older < number) rmSync(join(locks, String(older)), { force: true });
  }
}

/**
 * @param {string} text
 * @returns {{ pid: number, stamp: string } | null}
 */
function parseHolder(text) {
  const found = /^(\d{1,10}) (\S+)$/.exec(text);
  return found === null ? null : { pid: Number(found[1]), stamp: String(found[2]) };
}

/**
 * Readers see the old text or the new one, never half of it.
 * @param {string} path
 * @param {string} text
 */
export function replaceFile(path, text) {
  const draft = `${path}.${process.pid}.draft`;
  writeFileSync(draft, text);
  renameSync(draft, path);
}

import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { IntakeLimits } from './limits.ts';
import { isNotFound, lastUsedMs, loadStore, type StoreFolder } from './store.ts';

/** A store in use is marked at least this often. */
export const TOUCH_EVERY_MS = 60_000;
/** A store marked less than this ago is in use, by this process or another. */
const IN_USE_MS = 10 * TOUCH_EVERY_MS;

interface Candidate {
  readonly folder: string;
  readonly bytes: number;
  readonly usedMs: number;
  readonly seeds: readonly string[];
}

/**
 * Deletes the stores used least recently until the rest fits, and what crashed attempts left behind. Never a store in
 * use, nor one that a store in use builds on: using a store marks its seeds too, so they are never the older ones.
 */
export async function prune(
  stores: StoreFolder,
  limits: IntakeLimits,
  nowMs: number,
): Promise<void> {
  await pruneAttempts(stores, limits, nowMs);
  const candidates = await measure(stores);
  let total = candidates.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const oldest of candidates.toSorted((a, b) => a.usedMs - b.usedMs)) {
    if (total <= limits.cacheBytesMax) return;
    // What builds on it is as old or older; it would be unreadable without it.
    const going = candidates.filter(
      ({ folder, seeds }) => folder === oldest.folder || seeds.includes(oldest.folder),
    );
    for (const { folder, bytes } of going) {
      const usedMs = await lastUsedMs(folder);
      if (usedMs === null || nowMs - usedMs < IN_USE_MS) continue;
      await stores.remove(folder);
      total -= bytes;
    }
  }
}

/** Attempts last at most a few git processes; what is older belongs to a process that died. */
async function pruneAttempts(
  stores: StoreFolder,
  limits: IntakeLimits,
  nowMs: number,
): Promise<void> {
  const ageMs = 10 * limits.gitWallSecondsMax * 1_000;
  for (const name of await readdir(stores.temporary)) {
    const attempt = join(stores.temporary, name);
    const changedMs = await changedAtMs(attempt);
    if (changedMs !== null && nowMs - changedMs > ageMs) await stores.discard(attempt);
  }
}

async function changedAtMs(path: string): Promise<number | null> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (isNotFound(error)) return null;
    throw error;
  }
}

async function measure(stores: StoreFolder): Promise<Candidate[]> {
  const found: Candidate[] = [];
  for (const group of await readdir(stores.stores)) {
    for (const name of await readdir(join(stores.stores, group))) {
      const folder = join(stores.stores, group, name);
      const [store, usedMs] = [await loadStore(folder), await lastUsedMs(folder)];
      if (store === null || usedMs === null) continue;
      found.push({ folder, seeds: store.seeds, usedMs, bytes: await storeBytes(folder) });
    }
  }
  return found;
}

/** What the other files and folders of a store take; without it any number of small stores would fit. */
const STORE_BYTES = 65_536;

/** Packs are all that grows: a store has no loose objects. */
async function storeBytes(folder: string): Promise<number> {
  const packs = join(folder, 'objects/pack');
  let bytes = STORE_BYTES;
  try {
    for (const name of await readdir(packs)) bytes += (await stat(join(packs, name))).size;
  } catch (error) {
    // Another process has taken it away in the meantime.
    if (!isNotFound(error)) throw error;
  }
  return bytes;
}

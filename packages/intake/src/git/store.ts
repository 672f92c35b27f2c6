import { randomUUID } from 'node:crypto';
import {
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  statfs,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { sha256Hex, type CommitSha } from '@kervyxa/core';
import { z } from 'zod';
import { createIntakeError } from '../errors.ts';

/** The ref that keeps a store's commit, and tells a later fetch what is there already. */
export const COMMIT_REF = 'refs/kervyxa/commit';

/**
 * One commit with its whole history, as fetched from one URL and checked: a bare repository that never changes again.
 * It is complete together with its seeds, whose objects it reads.
 */
export interface Store {
  readonly folder: string;
  readonly url: string;
  readonly commit: CommitSha;
  /** Folders of the stores that this one's objects build on, the nearest first. */
  readonly seeds: readonly string[];
}

const FactsSchema = z.strictObject({
  url: z.string(),
  commit: z.string(),
  seeds: z.array(z.string()),
});

/** Git follows alternates five deep; a store on more seeds than this is fetched whole instead. */
export const SEEDS_MAX = 3;

const FREE_BYTES_MIN = 256 * 1_048_576;
const FACTS_FILE = 'kervyxa.json';

/**
 * The folder of all stores. A store is built in a temporary folder and renamed into place once it is complete, so
 * whatever is in place can be trusted after a crash, and processes that share the folder need no lock: of two that
 * fetch the same commit the first to finish wins, and both read the same objects.
 */
export class StoreFolder {
  readonly #root: string;

  constructor(cacheFolder: string) {
    this.#root = resolve(cacheFolder, 'v1');
  }

  /** An empty folder that stands as HOME of every git process. */
  get home(): string {
    return join(this.#root, 'home');
  }

  get temporary(): string {
    return join(this.#root, 'tmp');
  }

  get stores(): string {
    return join(this.#root, 'stores');
  }

  async prepare(): Promise<void> {
    // What is above the cache folder has the usual mode: a PostgreSQL that runs as another user lives there, too.
    await mkdir(dirname(dirname(this.#root)), { recursive: true });
    for (const folder of [this.home, this.temporary, this.stores]) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
    }
  }

  /** Throws INTAKE_DISK_FULL where there is too little room to go on, with this many bytes yet to be written. */
  async checkRoom(bytesToCome = 0): Promise<void> {
    const { bavail, bsize } = await statfs(this.#root);
    const free = bavail * bsize;
    const needed = FREE_BYTES_MIN + bytesToCome;
    if (free >= needed) return;
    throw createIntakeError('INTAKE_DISK_FULL', {
      message: `expected ${needed} free bytes for fetched repositories, got ${free}`,
      fix: 'free space on that disk, or give the cache a folder on a larger one',
    });
  }

  /** The complete store of a commit from a URL, marked as used; null where there is none. */
  async find(url: string, commit: CommitSha): Promise<Store | null> {
    return this.#load(join(this.#folderOf(url), `${commit}.git`));
  }

  /** The store from this URL that was used last, to build a further one on; null where there is none. */
  async findSeed(url: string): Promise<Store | null> {
    const group = this.#folderOf(url);
    const found: { folder: string; usedMs: number }[] = [];
    for (const name of await namesIn(group)) {
      const folder = join(group, name);
      const usedMs = await lastUsedMs(folder);
      if (usedMs !== null) found.push({ folder, usedMs });
    }
    for (const { folder } of found.toSorted((a, b) => b.usedMs - a.usedMs)) {
      const store = await loadStore(folder);
      // What is built on it must still serve as a seed itself, for the submissions to that base.
      if (store !== null && store.seeds.length + 1 < SEEDS_MAX) return this.#load(folder);
    }
    return null;
  }

  /** Marks a store and what it builds on as used, so that it is not pruned. False where it is gone. */
  async touch(store: Store): Promise<boolean> {
    const now = new Date();
    try {
      for (const folder of [...store.seeds, store.folder]) {
        await utimes(join(folder, FACTS_FILE), now, now);
      }
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  }

  /** A new folder for one attempt; `discard` it whatever happens. */
  newAttempt(): string {
    return join(this.temporary, randomUUID());
  }

  async discard(attempt: string): Promise<void> {
    await rm(attempt, { recursive: true, force: true, maxRetries: 3 });
  }

  /** Puts a complete attempt in place. Where another process was first, its store is the result. */
  async publish(attempt: string, facts: Omit<Store, 'folder'>): Promise<Store> {
    const folder = join(this.#folderOf(facts.url), `${facts.commit}.git`);
    await writeFile(join(attempt, FACTS_FILE), JSON.stringify(facts));
    await mkdir(this.#folderOf(facts.url), { recursive: true, mode: 0o700 });
    try {
      await rename(attempt, folder);
    } catch {
      // Either another process was first, or what lies there has lost a seed or its facts and stands in the way.
      const theirs = await this.#load(folder);
      if (theirs !== null) return theirs;
      await this.remove(folder);
      await rename(attempt, folder);
    }
    return { folder, ...facts };
  }

  /** Takes a store away in one step; processes that have its files open can still read them. */
  async remove(folder: string): Promise<void> {
    const aside = this.newAttempt();
    try {
      await rename(folder, aside);
    } catch (error) {
      // Another process was first.
      if (isNotFound(error)) return;
      throw error;
    }
    await this.discard(aside);
  }

  async #load(folder: string): Promise<Store | null> {
    const store = await loadStore(folder);
    return store !== null && (await this.touch(store)) ? store : null;
  }

  #folderOf(url: string): string {
    return join(this.stores, sha256Hex(url).slice(0, 32));
  }
}

/** A store by its folder; null where there is no complete one, such as one whose facts a crash has cut off. */
export async function loadStore(folder: string): Promise<Store | null> {
  try {
    const facts = FactsSchema.parse(JSON.parse(await readFile(join(folder, FACTS_FILE), 'utf8')));
    return { folder, ...facts, commit: facts.commit as CommitSha }; // Written by publish.
  } catch (error) {
    if (isNotFound(error) || error instanceof SyntaxError || error instanceof z.ZodError)
      return null;
    throw error;
  }
}

/** When a store was last used, in milliseconds since the epoch; null where it is gone. */
export async function lastUsedMs(folder: string): Promise<number | null> {
  try {
    return (await stat(join(folder, FACTS_FILE))).mtimeMs;
  } catch (error) {
    if (isNotFound(error)) return null;
    throw error;
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}

export function isNotFound(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

import { readFile } from 'node:fs/promises';

const LOOK_MS = 200;
/** Of the host's memory: with less left, the kernel may kill whom it finds largest, at any moment. */
const FREE_SHARE_MIN = 0.03;

/** Bytes that this host can still give to programs; null where it does not tell. */
export type ReadAvailableBytes = () => Promise<number | null>;

/**
 * Looks, while somebody runs, whether the host's memory comes to its end. Some of what code makes the kernel keep is in
 * no cgroup, such as what an overlay remembers of the folders that it merged; the kernel would then kill the largest
 * program there is, and that is a neighbour's, which would fail for it.
 */
export class HostMemory {
  readonly #read: ReadAvailableBytes;
  readonly #bytesMin: number;
  readonly #watchers = new Set<() => void>();
  #timer: NodeJS.Timeout | null = null;

  /** The most that a run may use: with more, it could bring the host to where all are stopped. */
  readonly bytesForRuns: number;

  constructor(totalBytes: number, read: ReadAvailableBytes) {
    this.#bytesMin = totalBytes * FREE_SHARE_MIN;
    this.bytesForRuns = Math.floor(totalBytes - this.#bytesMin);
    this.#read = read;
  }

  /** Calls `onLow` when little is left, perhaps more than once, until what it returns is called. */
  watch(onLow: () => void): () => void {
    this.#watchers.add(onLow);
    this.#timer ??= setInterval(() => void this.#look(), LOOK_MS);
    return () => {
      this.#watchers.delete(onLow);
      if (this.#watchers.size > 0 || this.#timer === null) return;
      clearInterval(this.#timer);
      this.#timer = null;
    };
  }

  async #look(): Promise<void> {
    const available = await this.#read();
    if (available === null || available >= this.#bytesMin) return;
    for (const onLow of this.#watchers) onLow();
  }
}

export async function readAvailableBytes(): Promise<number | null> {
  const text = await readFile('/proc/meminfo', 'utf8').catch(() => '');
  const kilobytes = /^MemAvailable: +(\d+) kB$/m.exec(text)?.[1];
  return kilobytes === undefined ? null : Number(kilobytes) * 1_024;
}

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { LimitReached, ReadFailed } from './process.ts';
import type { Store } from './store.ts';

const CHECKSUM_BYTES = 20;

/**
 * Whether a failure to read is the doing of whoever made the objects. A limit of time is; so is any other end of git,
 * such as of its memory, where every pack still has the checksum that it came with. Else it is the disk's, or ours.
 */
export async function isMakersFault(error: unknown, held: readonly Store[]): Promise<boolean> {
  if (error instanceof LimitReached) return true;
  return error instanceof ReadFailed && (await areIntact(held));
}

async function areIntact(held: readonly Store[]): Promise<boolean> {
  const folders = new Set(held.flatMap(({ folder, seeds }) => [folder, ...seeds]));
  for (const folder of folders) {
    const packs = join(folder, 'objects/pack');
    const names = await readdir(packs).catch(() => null);
    if (names === null) return false;
    for (const name of names.filter((each) => /\.(pack|idx)$/.test(each))) {
      if (!(await hasItsChecksum(join(packs, name)))) return false;
    }
  }
  return true;
}

/** A pack, and its index, end with the SHA-1 of all that stands before. */
async function hasItsChecksum(path: string): Promise<boolean> {
  const hash = createHash('sha1');
  let held: Buffer = Buffer.alloc(0);
  try {
    for await (const piece of createReadStream(path) as AsyncIterable<Buffer>) {
      const bytes = Buffer.concat([held, piece]);
      const end = Math.max(0, bytes.length - CHECKSUM_BYTES);
      hash.update(bytes.subarray(0, end));
      held = bytes.subarray(end);
    }
  } catch {
    // What can't be read is not intact.
    return false;
  }
  return hash.digest().equals(held);
}

import { createHash } from 'node:crypto';
import { brokenUniqueConstraint } from '../driver-errors.ts';
import { createDbError } from '../errors.ts';
import type { Blobs } from '../ports.ts';
import { queryRows, runChange, type Sql } from './sql.ts';

const CHUNK_BYTES = 1_048_576;

export function createBlobs(sql: Sql): Blobs {
  return {
    saveBlob: (chunks, options) => saveBlob(sql, chunks, options),
    readBlob: (sha256) => readBlob(sql, sha256),
    blobSizes: async (sha256s) => {
      const rows = await queryRows<{ sha256: string; size: bigint }>(
        sql,
        'SELECT sha256, size_bytes AS size FROM blobs WHERE sha256 = ANY($1)',
        [sha256s],
      );
      return new Map(rows.map(({ sha256, size }) => [sha256, Number(size)]));
    },
  };
}

export interface SavedBlob {
  readonly sha256: string;
  readonly sizeBytes: bigint;
}

/**
 * Writes the bytes chunk by chunk, each in a transaction of its own, and names them by their digest at the end: half a
 * blob is never found, and `forgetHalfBlobs` removes it. Holds two chunks in memory at most. Throws DB_BLOB_TOO_LARGE.
 */
export async function saveBlob(
  sql: Sql,
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  { bytesMax }: { readonly bytesMax: number },
): Promise<SavedBlob> {
  const id = await openBlob(sql);
  try {
    const hash = createHash('sha256');
    let size = 0;
    let index = 0;
    for await (const piece of toChunks(chunks)) {
      size += piece.length;
      if (size > bytesMax) throw createTooLarge(bytesMax);
      hash.update(piece);
      await runChange(sql, 'INSERT INTO blob_chunks (blob_id, index, bytes) VALUES ($1, $2, $3)', [
        id,
        index,
        piece,
      ]);
      index += 1;
    }
    const saved = { sha256: hash.digest('hex'), sizeBytes: BigInt(size) };
    if (!(await nameBlob(sql, id, saved))) await dropBlob(sql, id);
    return saved;
  } catch (error) {
    // What can't be removed now is never found, and removed with what crashes leave behind.
    await dropBlob(sql, id).catch(() => undefined);
    throw error;
  }
}

/** Null where there is none. Reading throws DB_BLOB_DAMAGED at the end where the bytes are not those of the digest. */
export async function readBlob(
  sql: Sql,
  sha256: string,
): Promise<AsyncGenerator<Uint8Array> | null> {
  const [blob] = await queryRows<{ id: bigint }>(sql, 'SELECT id FROM blobs WHERE sha256 = $1', [
    sha256,
  ]);
  return blob === undefined ? null : readChunks(sql, blob.id, sha256);
}

/** Removes at most `limit` that were begun longer ago and never ended; how many. */
export function forgetHalfBlobs(sql: Sql, olderThanMs: number, limit: number): Promise<number> {
  return runChange(
    sql,
    `DELETE FROM blobs WHERE id IN (
       SELECT id FROM blobs
       WHERE sha256 IS NULL AND created_at < now() - $1 * interval '1 millisecond' LIMIT $2)`,
    [olderThanMs, limit],
  );
}

/**
 * Removes at most `limit` that were saved longer ago and that nobody names: of uploads that came to nothing, of drafts
 * that were edited or approved again; how many.
 */
export function forgetUnusedBlobs(sql: Sql, olderThanMs: number, limit: number): Promise<number> {
  return runChange(
    sql,
    `DELETE FROM blobs WHERE created_at < now() - $1 * interval '1 millisecond' AND id IN (
       SELECT b.id FROM blobs b
       WHERE b.sha256 IS NOT NULL AND b.created_at < now() - $1 * interval '1 millisecond'
         AND NOT EXISTS (SELECT FROM packages WHERE sha256 = b.sha256)
         AND NOT EXISTS (SELECT FROM contracts WHERE base_blob = b.sha256)
         AND NOT EXISTS (SELECT FROM contracts WHERE proving_blob = b.sha256)
         AND NOT EXISTS (SELECT FROM submissions WHERE source_blob = b.sha256)
         AND NOT EXISTS (SELECT FROM criterion_results WHERE log_blob = b.sha256)
         AND NOT EXISTS (SELECT FROM problem_inputs WHERE blob = b.sha256)
         AND NOT EXISTS (SELECT FROM entry_artifacts WHERE blob = b.sha256)
         AND NOT EXISTS (SELECT FROM run_evidence WHERE public_contract_blob = b.sha256)
       LIMIT $2)`,
    [olderThanMs, limit],
  );
}

async function* readChunks(sql: Sql, id: bigint, sha256: string): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  for (let index = 0; ; index += 1) {
    const [chunk] = await queryRows<{ bytes: Uint8Array }>(
      sql,
      'SELECT bytes FROM blob_chunks WHERE blob_id = $1 AND index = $2',
      [id, index],
    );
    if (chunk === undefined) break;
    hash.update(chunk.bytes);
    yield chunk.bytes;
  }
  const got = hash.digest('hex');
  if (got === sha256) return;
  throw createDbError('DB_BLOB_DAMAGED', {
    message: `expected bytes of SHA-256 ${sha256}, got ${got}`,
    fix: 'Restore the database from a backup.',
  });
}

/** Pieces of one size, whatever the source gives. */
async function* toChunks(
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  for await (const piece of source) {
    let rest = piece;
    while (heldBytes + rest.length >= CHUNK_BYTES) {
      const taken = rest.subarray(0, CHUNK_BYTES - heldBytes);
      yield Buffer.concat([...held, taken]);
      held = [];
      heldBytes = 0;
      rest = rest.subarray(taken.length);
    }
    if (rest.length > 0) held.push(rest);
    heldBytes += rest.length;
  }
  if (heldBytes > 0) yield Buffer.concat(held);
}

async function openBlob(sql: Sql): Promise<bigint> {
  const [blob] = await queryRows<{ id: bigint }>(
    sql,
    'INSERT INTO blobs DEFAULT VALUES RETURNING id',
  );
  if (blob === undefined) throw new Error('expected the number of a new blob, got no row');
  return blob.id;
}

/**
 * False where the same bytes are kept already, also where somebody else was quicker just now. Those are as good as new
 * then: whoever saved them again has yet to name them.
 */
async function nameBlob(sql: Sql, id: bigint, saved: SavedBlob): Promise<boolean> {
  for (;;) {
    if (await tryNaming(sql, id, saved)) return true;
    const found = await queryRows(
      sql,
      `SELECT 1 FROM blobs WHERE sha256 = $1 AND created_at > now() - interval '1 hour'`,
      [saved.sha256],
    );
    if (found.length > 0) return false;
    const touch = 'UPDATE blobs SET created_at = now() WHERE sha256 = $1';
    if ((await runChange(sql, touch, [saved.sha256])) === 1) return false;
  }
}

async function tryNaming(sql: Sql, id: bigint, { sha256, sizeBytes }: SavedBlob): Promise<boolean> {
  try {
    const named = await runChange(
      sql,
      `UPDATE blobs SET sha256 = $2, size_bytes = $3
       WHERE id = $1 AND NOT EXISTS (SELECT FROM blobs WHERE sha256 = $2)`,
      [id, sha256, sizeBytes],
    );
    return named === 1;
  } catch (error) {
    if (brokenUniqueConstraint(error) === null) throw error;
    return false;
  }
}

async function dropBlob(sql: Sql, id: bigint): Promise<void> {
  await runChange(sql, 'DELETE FROM blobs WHERE id = $1', [id]);
}

function createTooLarge(bytesMax: number): Error {
  return createDbError('DB_BLOB_TOO_LARGE', {
    message: `expected at most ${bytesMax} bytes, got more`,
    fix: 'Make it smaller, or have the operator raise the limit.',
  });
}

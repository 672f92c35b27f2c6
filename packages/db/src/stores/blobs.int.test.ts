import { randomBytes } from 'node:crypto';
import { sha256Hex } from '@kervyxa/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openStores, type Stores } from '../testing/open-stores.ts';

const MIB = 1_048_576;

let stores: Stores;
beforeAll(async () => {
  stores = await openStores();
});
afterAll(() => stores.close());

async function* inPieces(bytes: Uint8Array, pieceBytes: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += pieceBytes) {
    yield bytes.subarray(start, start + pieceBytes);
  }
}

async function read(sha256: string): Promise<Buffer | null> {
  const chunks = await stores.work.readBlob(sha256);
  return chunks === null ? null : Buffer.concat(await Array.fromAsync(chunks));
}

async function countOf(table: string): Promise<number> {
  const { rows } = await stores.test.pool.query(`SELECT count(*)::int AS count FROM ${table}`);
  return rows[0].count;
}

// Keeps R-BLOB-WHOLE.
describe('a blob', () => {
  it.each([
    ['no bytes', 0, 1],
    ['one byte', 1, 1],
    ['one chunk', MIB, 4_096],
    ['one chunk in one piece with the next', MIB + 1, MIB + 1],
    ['several chunks in pieces that fit none', 3 * MIB + 17, 700_001],
  ])('of %s comes back as it was, in chunks of one size', async (_title, size, pieceBytes) => {
    const bytes = randomBytes(size);
    const saved = await stores.work.saveBlob(inPieces(bytes, pieceBytes), { bytesMax: size });
    expect(saved).toEqual({ sha256: sha256Hex(bytes), sizeBytes: BigInt(size) });
    expect((await read(saved.sha256))?.equals(bytes)).toBe(true);
  });

  it('is kept once, also where many save the same bytes at the same time', async () => {
    const bytes = randomBytes(2 * MIB);
    const before = await countOf('blob_chunks');
    const save = () => stores.work.saveBlob(inPieces(bytes, 100_000), { bytesMax: 4 * MIB });
    const saved = await Promise.all(Array.from({ length: 5 }, save));
    expect(new Set(saved.map(({ sha256 }) => sha256))).toEqual(new Set([sha256Hex(bytes)]));
    expect((await read(sha256Hex(bytes)))?.equals(bytes)).toBe(true);
    expect(await countOf('blob_chunks')).toBe(before + 2);
  });

  it('larger than allowed is refused before it is read to the end, and leaves nothing', async () => {
    const before = [await countOf('blobs'), await countOf('blob_chunks')];
    let pieces = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) {
        pieces += 1;
        yield new Uint8Array(MIB);
      }
    }
    const saving = stores.work.saveBlob(endless(), { bytesMax: 3 * MIB });
    await expect(saving).rejects.toMatchObject({ code: 'DB_BLOB_TOO_LARGE' });
    expect(pieces).toBe(4);
    expect([await countOf('blobs'), await countOf('blob_chunks')]).toEqual(before);
  });

  it('that broke off is found by nobody, and is forgotten later', async () => {
    const bytes = randomBytes(2 * MIB);
    const { rows } = await stores.test.pool.query(
      `INSERT INTO blobs (created_at) VALUES (now() - interval '2 days') RETURNING id`,
    );
    await stores.test.pool.query('INSERT INTO blob_chunks VALUES ($1, 0, $2)', [
      rows[0].id,
      bytes.subarray(0, MIB),
    ]);
    expect(await read(sha256Hex(bytes))).toBeNull();
    expect(await read(sha256Hex(bytes.subarray(0, MIB)))).toBeNull();
    const before = await countOf('blob_chunks');
    expect(await stores.upkeep.forgetHalfBlobs(86_400_000, 10)).toBe(1);
    expect(await countOf('blob_chunks')).toBe(before - 1);
    expect(await stores.upkeep.forgetHalfBlobs(86_400_000, 10)).toBe(0);
  });

  it('that nobody names is forgotten after a while, unless it was saved again just now', async () => {
    const { pool } = stores.test;
    const save = async () => {
      const bytes = randomBytes(100);
      return { bytes, ...(await stores.work.saveBlob(inPieces(bytes, 100), { bytesMax: 100 })) };
    };
    const [unused, again, named, young] = [await save(), await save(), await save(), await save()];
    await pool.query(`UPDATE blobs SET created_at = now() - interval '2 days' WHERE sha256 <> $1`, [
      young.sha256,
    ]);
    const ownerId = await stores.bench.addPrincipal();
    await pool.query(
      'INSERT INTO packages (sha256, owner_id, entry_count, size_bytes) VALUES ($1, $2, 1, 100)',
      [named.sha256, ownerId],
    );
    await stores.work.saveBlob(inPieces(again.bytes, 100), { bytesMax: 100 });
    await stores.upkeep.forgetUnusedBlobs(86_400_000, 100);
    expect(await read(unused.sha256)).toBeNull();
    for (const { sha256, bytes } of [again, named, young]) {
      expect((await read(sha256))?.equals(bytes)).toBe(true);
    }
  });

  it('whose bytes were changed on the disk is not taken for what it was', async () => {
    const bytes = randomBytes(MIB + 5);
    const { sha256 } = await stores.work.saveBlob(inPieces(bytes, MIB), { bytesMax: 2 * MIB });
    const sql = await stores.test.pool.connect();
    await sql.query('SET session_replication_role = replica');
    await sql.query(
      `UPDATE blob_chunks SET bytes = set_byte(bytes, 0, 255 - get_byte(bytes, 0))
       WHERE index = 1 AND blob_id = (SELECT id FROM blobs WHERE sha256 = $1)`,
      [sha256],
    );
    sql.release(true);
    await expect(read(sha256)).rejects.toMatchObject({ code: 'DB_BLOB_DAMAGED' });
  });

  it('is unknown where nobody saved it', async () => {
    expect(await stores.work.readBlob('f'.repeat(64))).toBeNull();
  });
});

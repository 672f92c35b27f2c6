import { expect, it } from 'vitest';
import { splitRecords } from './listing.ts';

async function split(bytes: Buffer, pieceBytes: number): Promise<(number | null)[]> {
  async function* pieces(): AsyncGenerator<Buffer> {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
  }
  const found: (number | null)[] = [];
  for await (const record of splitRecords(pieces())) found.push(record?.length ?? null);
  return found;
}

it('G22 has a path just above the bound: refused however the pipe cuts it', async () => {
  const bytes = Buffer.from(`short\0${'a'.repeat(16_384)}\0${'b'.repeat(16_385)}\0after\0`);
  for (const pieceBytes of [bytes.length, 65_536, 16_385, 4_096, 1_000]) {
    expect(await split(bytes, pieceBytes)).toEqual([5, 16_384, null]);
  }
});

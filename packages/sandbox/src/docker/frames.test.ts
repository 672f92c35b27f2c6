import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FrameReader } from './frames.ts';

type Frame = readonly [stream: 1 | 2, payload: Uint8Array];

function toBytes(frames: readonly Frame[]): Buffer {
  return Buffer.concat(
    frames.map(([stream, payload]) => {
      const header = Buffer.from([stream, 0, 0, 0, 0, 0, 0, 0]);
      header.writeUInt32BE(payload.length, 4);
      return Buffer.concat([header, payload]);
    }),
  );
}

describe('the frames of an attach stream', () => {
  it('M09 come out whole and in order, however they are cut into chunks', () => {
    const frame = fc.tuple(
      fc.constantFrom(1 as const, 2 as const),
      fc.uint8Array({ maxLength: 40 }),
    );
    fc.assert(
      fc.property(fc.array(frame), fc.array(fc.integer({ min: 1, max: 20 })), (frames, cuts) => {
        const seen: Record<string, number[]> = { stdout: [], stderr: [] };
        const reader = new FrameReader((stream, payload) => seen[stream]?.push(...payload));
        let rest = toBytes(frames);
        for (const cut of [...cuts, Number.POSITIVE_INFINITY]) {
          reader.push(rest.subarray(0, cut));
          rest = rest.subarray(cut);
        }
        const expected = (wanted: number): number[] =>
          frames.flatMap(([stream, payload]) => (stream === wanted ? [...payload] : []));
        expect(seen).toEqual({ stdout: expected(1), stderr: expected(2) });
        expect(reader.isAtBoundary).toBe(true);
      }),
    );
  });

  it('claim four gigabytes and bring two bytes: they are passed on, and nothing is set aside', () => {
    const seen: Uint8Array[] = [];
    const reader = new FrameReader((_, payload) => seen.push(payload));
    reader.push(Buffer.from([1, 0, 0, 0, 255, 255, 255, 255, 65, 66]));
    expect(Buffer.concat(seen).toString()).toBe('AB');
    expect(reader.isAtBoundary).toBe(false);
  });

  it.each([
    ['a stream that is neither stdout nor stderr', [0, 0, 0, 0, 0, 0, 0, 1]],
    ['text without a header', [...Buffer.from('KERVYXA_')]],
  ])('are %s: the run is lost, nothing is guessed', (_, bytes) => {
    const reader = new FrameReader(() => undefined);
    expect(() => reader.push(Buffer.from(bytes))).toThrow(
      expect.objectContaining({ code: 'SANDBOX_RUN_LOST' }),
    );
  });
});

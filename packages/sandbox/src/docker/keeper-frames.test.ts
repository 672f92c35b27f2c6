import { expect, it } from 'vitest';
import { packFrames } from './keeper-frames.ts';

const FRAME_BYTES = 4 * 1_024 * 1_024;

async function* pieces(...sizes: number[]): AsyncGenerator<Uint8Array> {
  for (const size of sizes) yield Buffer.alloc(size, 'x');
}

it.each([
  ['nothing', [], '0\n'],
  ['small pieces gathered', [3, 2], '5\nxxxxx0\n'],
])('packs %s', async (_, sizes, expected) => {
  const frames = await Array.fromAsync(packFrames(pieces(...sizes)));
  expect(Buffer.concat(frames).toString()).toBe(expected);
});

it('cuts what is larger than a frame', async () => {
  const frames = await Array.fromAsync(packFrames(pieces(FRAME_BYTES - 1, FRAME_BYTES + 3)));
  expect(
    frames.map((frame) => Buffer.from(frame.subarray(0, 8)).toString().split('\n')[0]),
  ).toEqual(['4194304', '4194304', '2', '0']);
  expect(Buffer.concat(frames).length).toBe(2 * FRAME_BYTES + 2 + 2 * '4194304\n'.length + 4);
});

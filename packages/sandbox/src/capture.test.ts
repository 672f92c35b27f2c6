import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { FileCapture, StreamCapture } from './capture.ts';

// sha256sum of the bytes.
const SHA_OF_ABCDE = '36bbe50ed96841d10443bcb670d6554f0a34b761be67ec9c4a8ad2c0c44ca42c';
const SHA_OF_NOTHING = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

describe('a captured stream', () => {
  it('counts and hashes all, and keeps the beginning', () => {
    const capture = new StreamCapture(4);
    const chunk = Buffer.from('abc');
    capture.push(chunk);
    chunk.fill('?');
    capture.push(Buffer.from('de'));
    expect(capture.finish()).toEqual({
      bytesTotal: 5,
      sha256: SHA_OF_ABCDE,
      head: Buffer.from('abcd'),
    });
  });

  it('may be empty', () => {
    expect(new StreamCapture(4).finish()).toEqual({
      bytesTotal: 0,
      sha256: SHA_OF_NOTHING,
      head: Buffer.alloc(0),
    });
  });
});

describe('the lines of a file', () => {
  it.each([
    [[''], 0],
    [['\n'], 1],
    [['a'], 1],
    [['a\n', 'b\n'], 2],
    [['a\nb', 'c'], 2],
    [['a\n\n', '', 'b'], 3],
  ])('%j are %d', (pieces, lines) => {
    const capture = new FileCapture(100);
    for (const piece of pieces) capture.push(Buffer.from(piece));
    expect(capture.finish().lineCount).toBe(lines);
  });

  it('are all empty in a file made to keep us busy: counted in less than 30 digests of it', () => {
    const piece = Buffer.alloc(65_536, '\n');
    const timeOf = (take: (piece: Uint8Array) => void): number => {
      const startedMs = performance.now();
      for (let count = 0; count < 64; count += 1) take(piece);
      return performance.now() - startedMs;
    };
    const hash = createHash('sha256');
    const capture = new FileCapture(0);
    timeOf((taken) => capture.push(taken));
    const hashMs = timeOf((taken) => hash.update(taken));
    expect(timeOf((taken) => capture.push(taken))).toBeLessThan(30 * hashMs);
  });
});

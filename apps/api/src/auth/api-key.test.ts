import { describe, expect, it } from 'vitest';
import { createApiKey, hashOfKey, readBearer } from './api-key.ts';

describe('an API key', () => {
  it('carries all 256 bits that it is given', () => {
    const bytes = Uint8Array.from({ length: 32 }, (_, index) => index);
    const key = createApiKey((count) => bytes.subarray(0, count));
    expect(Buffer.from(key.slice('kvx_'.length), 'base64url')).toEqual(Buffer.from(bytes));
    expect(readBearer(`Bearer ${key}`)).toBe(key);
    expect(hashOfKey('kvx_')).toBe(
      // printf kvx_ | sha256sum
      '23ba4e49fc8ce50217db79232a655b0ff2cd3b1764cd845d7766dcdc31e36858',
    );
  });

  it.each([
    undefined,
    '',
    'Bearer',
    `Basic kvx_${'a'.repeat(43)}`,
    `Bearer kvx_${'a'.repeat(42)}`,
    `Bearer kvx_${'a'.repeat(44)}`,
    `Bearer kvx_${'a'.repeat(43)}\n`,
    `Bearer xvk_${'a'.repeat(43)}`,
    `Bearer kvx_${'ä'.repeat(43)}`,
  ])('is not what %j says', (header) => {
    expect(readBearer(header)).toBeNull();
  });
});

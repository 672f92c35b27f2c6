import { describe, expect, it } from 'vitest';
import { createIdSource, idSchemaOf } from './ids.ts';

describe('an id', () => {
  it('is its prefix and every one of its 128 random bits', () => {
    const all = createIdSource((count) => new Uint8Array(count).fill(0xff));
    const none = createIdSource((count) => new Uint8Array(count));
    expect(all('submission')).toBe(`sub_7${'z'.repeat(25)}`);
    expect(none('contract')).toBe(`con_${'0'.repeat(26)}`);
  });

  it('is taken from outside only whole and of its own kind', () => {
    const schema = idSchemaOf('run');
    const id = createIdSource((count) => new Uint8Array(count).fill(7))('run');
    expect(schema.safeParse(id).success).toBe(true);
    for (const other of [
      id.replace('run', 'sub'),
      id.slice(1),
      `${id}\n`,
      `${id}0`,
      id.toUpperCase(),
    ]) {
      expect([other, schema.safeParse(other).success]).toEqual([other, false]);
    }
  });
});

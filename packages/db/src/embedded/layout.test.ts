import { describe, expect, it } from 'vitest';
import { layoutOf } from './layout.ts';

describe('the layout of the built-in PostgreSQL', () => {
  it('takes a path that leaves room for the socket, to the last byte', () => {
    const longest = `/${'x'.repeat(107 - '//socket/.s.PGSQL.5432'.length)}`;
    expect(layoutOf(longest).socketFolder).toBe(`${longest}/socket`);
    expect(() => layoutOf(`${longest}x`)).toThrow(/107 bytes, got 108/);
  });

  it('counts bytes, not letters', () => {
    expect(() => layoutOf(`/${'ü'.repeat(50)}`)).toThrow(/107 bytes/);
  });
});

import { describe, expect, it } from 'vitest';
import { fakeHost } from '../testing/fake-host.ts';
import { toKeyBox } from './key-box.ts';

const KEY = 'kvx_wXYK7appWAsoGHn63A1FjAHmqwmDI44hjLXJpiLrEC0';

describe('the operator’s key', () => {
  it('is in a box that fits the terminal', () => {
    const lines = toKeyBox(KEY, fakeHost({ columns: 80 }).stdout)
      .trimEnd()
      .split('\n');
    expect(new Set(lines.map((line) => line.length)).size).toBe(1);
    expect(lines.join('\n')).toContain(KEY);
  });

  it('has no box where that would break: the key stays in one piece', () => {
    const text = toKeyBox(KEY, fakeHost({ columns: 40 }).stdout);
    expect(text).not.toMatch(/[┌│]/);
    expect(text.split('\n')).toContain(KEY);
  });
});

import type { RuntimeBinding, Runtimes } from '@kervyxa/setup';
import { describe, expect, it } from 'vitest';
import { fakeScreen } from '../testing/fake-host.ts';
import { showRuntimes } from './runtimes.ts';

const NODE = {
  imageId: `sha256:${'a'.repeat(64)}`,
  recipeDigest: `sha256:${'c'.repeat(64)}`,
  source: 'built',
  engineId: 'E',
  at: '2026-11-30T10:00:00.000Z',
} as const;
const RUNTIMES: Runtimes = new Map<string, RuntimeBinding>([
  ['kervyxa-runtime/python:1', { ...NODE, imageId: `sha256:${'b'.repeat(64)}`, source: 'pulled' }],
  ['kervyxa-runtime/node:22', NODE],
]);

describe('kervyxa runtimes', () => {
  it('shows each name with the exact image it means, in the order of the names', () => {
    const screen = fakeScreen();
    showRuntimes(RUNTIMES, {}, screen);
    expect(screen.text()).toBe(
      `kervyxa-runtime/node:22
  image  sha256:${'a'.repeat(64)}
  built  2026-11-30T10:00:00.000Z

kervyxa-runtime/python:1
  image  sha256:${'b'.repeat(64)}
  pulled 2026-11-30T10:00:00.000Z
`,
    );
  });

  it('prints the same as JSON', () => {
    const screen = fakeScreen();
    showRuntimes(RUNTIMES, { json: true }, screen);
    expect(JSON.parse(screen.text())).toEqual({
      runtimes: [
        {
          name: 'kervyxa-runtime/node:22',
          imageId: `sha256:${'a'.repeat(64)}`,
          source: 'built',
          boundAt: '2026-11-30T10:00:00.000Z',
        },
        {
          name: 'kervyxa-runtime/python:1',
          imageId: `sha256:${'b'.repeat(64)}`,
          source: 'pulled',
          boundAt: '2026-11-30T10:00:00.000Z',
        },
      ],
    });
  });

  it('says what to do while there is none', () => {
    const screen = fakeScreen();
    showRuntimes(new Map(), {}, screen);
    expect(screen.text()).toContain('kervyxa verify');
  });
});

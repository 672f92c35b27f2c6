import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PublicKeysSchema } from '@kervyxa/evidence';
import { runCliProcess } from '../testing/cli-process.ts';

let home = '';
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'kervyxa-keys-home-'));
});
afterAll(() => rmSync(home, { recursive: true }));

/** The public keys that each of several processes tells, all started at once. */
async function atOnce(command: 'show' | 'rotate', processes: number) {
  const ends = Array.from({ length: processes }, () =>
    runCliProcess(['keys', command, '--json'], { env: { KERVYXA_HOME: home } }),
  );
  return (await Promise.all(ends)).map(({ stdout, stderr }) => {
    expect(stderr).toBe('');
    return PublicKeysSchema.parse(JSON.parse(stdout)).keys;
  });
}

// Keeps R-EVIDENCE-KEYS.
it('several processes want the first key, or the next one, at once: one is made for all', async () => {
  const shown = await atOnce('show', 3);
  expect(new Set(shown.map((keys) => JSON.stringify(keys))).size).toBe(1);
  expect(shown[0]).toHaveLength(1);

  const rotated = await atOnce('rotate', 2);
  const longest = rotated.toSorted((a, b) => b.length - a.length)[0] ?? [];
  expect(longest.map(({ retired }) => retired === null).toSorted()).toEqual([
    ...Array.from({ length: longest.length - 1 }, () => false),
    true,
  ]);
  const secrets = readdirSync(join(home, 'own-keys')).filter((name) => name.endsWith('.pem'));
  expect(secrets).toEqual([`${longest.at(-1)?.kid}.pem`]);
});

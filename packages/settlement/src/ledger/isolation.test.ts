import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

it('the ledger knows nothing of contracts and challenges: it imports only itself and core', () => {
  const imports = readdirSync(import.meta.dirname)
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .flatMap((name) => [
      ...readFileSync(join(import.meta.dirname, name), 'utf8').matchAll(/from '([^']+)'/g),
    ])
    .map(([, name = '']) => name);
  expect(imports.length).toBeGreaterThan(5);
  expect(imports.filter((name) => !/^(\.\/[a-z-]+\.ts|@kervyxa\/core)$/.test(name))).toEqual([]);
});

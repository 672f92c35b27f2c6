import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { REQUIREMENTS } from './requirements.ts';

const ROOT = join(import.meta.dirname, '..');

/** Requirement id → files that cite it. */
const citations = new Map<string, string[]>();
for (const folder of ['packages', 'apps', 'test', 'bench', 'docker']) {
  for (const name of readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })) {
    if (!/(\.test\.(ts|mjs)|shared-suite\.ts)$/.test(name) || name.includes('node_modules'))
      continue;
    const text = readFileSync(join(ROOT, folder, name), 'utf8');
    for (const [line] of text.matchAll(/\/\/ Keeps R-[^\n]*/g)) {
      for (const [id] of line.matchAll(/R-[A-Z]+(?:-[A-Z]+)*/g)) {
        citations.set(id, [...(citations.get(id) ?? []), `${folder}/${name}`]);
      }
    }
  }
}

it('every requirement is cited by a test', () => {
  expect(Object.keys(REQUIREMENTS).filter((id) => !citations.has(id))).toEqual([]);
});

it('every citation names a requirement', () => {
  expect([...citations.keys()].filter((id) => !Object.hasOwn(REQUIREMENTS, id))).toEqual([]);
});

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FILE = join(import.meta.dirname, 'seeds.json');

type Seeds = Record<string, unknown[]>;

/** Inputs that once broke a reader, by the name of its target. */
export function readSeeds(): Seeds {
  const seeds: Seeds = JSON.parse(readFileSync(FILE, 'utf8'));
  return seeds;
}

export function keepSeed(target: string, seed: unknown): void {
  const seeds = readSeeds();
  (seeds[target] ??= []).push(seed);
  writeFileSync(FILE, `${JSON.stringify(seeds, null, 2)}\n`);
}

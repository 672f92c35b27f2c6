import { ProvingReportSchema, VerificationResultSchema } from '@kervyxa/verifier';
import { describe, expect, it } from 'vitest';
import { readSeeds } from './seeds.ts';
import { TARGETS } from './targets/index.ts';
import { REPORT, RESULT } from './targets/samples.ts';

/** All targets together; `npm run fuzz` takes longer. */
const SECONDS = 20;
const seeds = readSeeds();

// Keeps R-READERS-HOLD.
describe('odd input', () => {
  it.each(TARGETS.map((target) => [target.name, target] as const))(
    'breaks no reader: %s',
    async (name, target) => {
      const milliseconds = (SECONDS * 1_000) / TARGETS.length;
      const { failure } = await target.run({ milliseconds, seeds: seeds[name] ?? [] });
      expect(failure).toBeNull();
    },
  );

  it('starts from documents that are taken as they are', () => {
    expect(VerificationResultSchema.safeParse(RESULT).success).toBe(true);
    expect(ProvingReportSchema.safeParse(REPORT).success).toBe(true);
  });

  it('that once broke one is kept under the name of a target', () => {
    const names = TARGETS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(Object.keys(seeds).filter((name) => !names.includes(name))).toEqual([]);
  });
});

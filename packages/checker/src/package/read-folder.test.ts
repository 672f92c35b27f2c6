import { describe, expect, it } from 'vitest';
import { simplePackage } from '../testing/simple-package.ts';
import { readCheckerPackage } from './read-folder.ts';

const DIGEST = 'ab'.repeat(32);

describe('readCheckerPackage', () => {
  it('reads a small package, with what its author left out filled in', () => {
    const { package: found, findings } = readCheckerPackage(simplePackage(), DIGEST);
    expect(findings).toEqual([]);
    expect(found).toMatchObject({
      digest: DIGEST,
      contractId: null,
      contract: { score: null, stages: [{ key: 'structure', evidence_schema: null }] },
    });
    expect(found?.programs.get('structure')).toMatchObject({
      kind: 'script',
      filename: 'checker.py',
      limits: { vcpu: 0.25, memoryMb: 1_024, diskMb: 2_048, timeoutSeconds: 120 },
    });
    expect(found?.fixtureFiles.size).toBe(3);
  });
});

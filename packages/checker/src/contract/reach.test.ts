import { describe, expect, it } from 'vitest';
import { readCheckerFolder } from '../package/read-folder.ts';
import { simpleContract, simplePackage } from '../testing/simple-package.ts';

const BYTES = 1_000_000;

/** As many of them as a contract of the largest size can have. */
function megabyteOf(unit: unknown): unknown[] {
  return Array.from({ length: BYTES / (JSON.stringify(unit).length + 1) }, () => unit);
}

describe('a megabyte of mistakes', () => {
  const contract = simpleContract();
  it.each([
    ['stages', { ...contract, stages: megabyteOf(0) }],
    ['stages of no kind', { ...contract, stages: megabyteOf({ kind: 'x' }) }],
    ['fixtures', { ...contract, conformance_fixtures: megabyteOf({}) }],
    [
      'slots and fixtures',
      {
        ...contract,
        reference_inputs: megabyteOf({ key: 'a', required: true }).slice(0, 15_000),
        conformance_fixtures: megabyteOf({ inputs: { reference: {} } }).slice(0, 15_000),
      },
    ],
    [
      'keys',
      {
        ...contract,
        ...Object.fromEntries(
          megabyteOf(null)
            .map((_, at) => [`k${at}`, 0])
            .slice(0, 60_000),
        ),
      },
    ],
    ['texts with NUL', { ...contract, title: megabyteOf('\0').slice(0, 90_000) }],
  ])('in %s is refused in no more words than a person can read', (_what, document) => {
    const { findings, problems } = readCheckerFolder(simplePackage(document), '0');
    expect(problems[0]?.package).toBeNull();
    expect(findings.length).toBeGreaterThan(0);
    expect(findings.length).toBeLessThan(3_000);
  });
});

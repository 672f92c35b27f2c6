import { describe, expect, it } from 'vitest';
import { fullFolder, toFiles } from '../testing/full-package.ts';
import { put } from '../testing/lint-row.ts';
import { lintEvidenceSchemas } from './lint-schemas.ts';
import { readCheckerPackage } from './read-folder.ts';

async function pointersOf(schemas: Readonly<Record<number, unknown>>): Promise<string[]> {
  const folder = fullFolder();
  for (const [stage, schema] of Object.entries(schemas)) {
    put(folder.contract, ['stages', Number(stage), 'evidence_schema'], schema);
  }
  const { package: checker } = readCheckerPackage(toFiles(folder), '0');
  if (checker === null) throw new Error('expected a package that lint lets through');
  const findings = await lintEvidenceSchemas(checker.contract);
  expect(new Set(findings.map(({ code, file }) => `${file} ${code}`)).size).toBeLessThan(2);
  return findings.map(({ pointer }) => pointer);
}

describe('the evidence schema of a stage', () => {
  it('is one that can be checked', async () => {
    expect(await pointersOf({})).toEqual([]);
  });

  it('that can not is told, of an external stage too, which no fixture would try', async () => {
    const broken = {
      1: { type: 'no such type' },
      3: { $ref: 'https://example.org/schema.json' },
      4: { pattern: '(a)\\1' },
    };
    expect(await pointersOf(broken)).toEqual([
      '/stages/1/evidence_schema',
      '/stages/3/evidence_schema',
      '/stages/4/evidence_schema',
    ]);
  });
});

import { describe, expect, it } from 'vitest';
import type { LintFinding } from '../contract/finding.ts';
import type { ContractTerms } from '../contract/schema.ts';
import { fullFolder, toFiles } from '../testing/full-package.ts';
import { put } from '../testing/lint-row.ts';
import { checkAgainstSchema } from '../thread/check-schema.ts';
import { lintEvidenceSchemas } from './lint-schemas.ts';
import { readCheckerPackage } from './read-folder.ts';

async function findingsOf(schemas: Readonly<Record<number, unknown>>): Promise<LintFinding[]> {
  const folder = fullFolder();
  for (const [stage, schema] of Object.entries(schemas)) {
    put(folder.contract, ['stages', Number(stage), 'evidence_schema'], schema);
  }
  const { package: checker } = readCheckerPackage(toFiles(folder), '0');
  if (checker === null) throw new Error('expected a package that lint lets through');
  return lintEvidenceSchemas(checker.contract);
}

describe('the evidence schema of a stage', () => {
  it('is one that can be checked', async () => {
    expect(await findingsOf({})).toEqual([]);
  });

  it('that can not is told, of an external stage too, which no fixture would try', async () => {
    const broken = {
      1: { type: 'no such type' },
      3: { $ref: 'https://example.org/schema.json' },
      4: { pattern: '(a)\\1' },
    };
    const row = {
      file: 'verifier-contract.json',
      code: 'evidence_schema_broken',
      severity: 'refuse',
      fix: 'Write JSON Schema 2020-12 with references into itself only and patterns that RE2 takes.',
    };
    // The library's words, of what is wrong.
    expect(await findingsOf(broken)).toEqual([
      {
        ...row,
        pointer: '/stages/1/evidence_schema',
        message: expect.stringContaining('type must be'),
      },
      {
        ...row,
        pointer: '/stages/3/evidence_schema',
        message: expect.stringContaining('https://example.org/schema.json'),
      },
      {
        ...row,
        pointer: '/stages/4/evidence_schema',
        message: expect.stringContaining('expected an RE2 pattern'),
      },
    ]);
  });

  it('that takes its time, in many stages, leaves others room for theirs', async () => {
    // 4^11 ways through it, all of them open.
    const levels = Array.from({ length: 11 }, (_, level) => [
      `l${level}`,
      { allOf: Array.from({ length: 4 }, () => ({ $ref: `#/$defs/l${level + 1}` })) },
    ]);
    const slow = { $defs: { ...Object.fromEntries(levels), l11: true }, $ref: '#/$defs/l0' };
    const { package: checker } = readCheckerPackage(toFiles(fullFolder()), '0');
    const [stage] = checker?.contract.stages.filter(({ kind }) => kind === 'sandbox') ?? [];
    if (stage === undefined) throw new Error('expected a sandbox stage');
    const stages = Array.from({ length: 6 }, () => ({ ...stage, evidence_schema: slow }));
    const order: string[] = [];
    await Promise.all([
      lintEvidenceSchemas({ stages: stages as ContractTerms['stages'] }).then(() =>
        order.push('lint'),
      ),
      checkAgainstSchema(true, null).then(() => order.push('report')),
    ]);
    expect(order).toEqual(['report', 'lint']);
  });
});

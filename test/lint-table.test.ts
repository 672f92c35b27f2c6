import { isOpen } from '@kervyxa/contract';
import { describe, expect, it } from 'vitest';
import {
  bulletsOf,
  contractFiles,
  lintOverTree,
  loadLintTable,
  readContractFile,
} from '../fixtures/lint-table.ts';

const TABLE = loadLintTable();

function openFindings(folder: 'accepted' | 'refused', file: string, tree: string) {
  return lintOverTree(readContractFile(folder, file), TABLE.trees[tree] ?? {}).filter(isOpen);
}

// Keeps R-APPROVAL-BULLETS.
describe('a contract with one mistake', () => {
  it.each(TABLE.refused)('$file is refused as $code', ({ file, tree, code, pointer, also }) => {
    const open = openFindings('refused', file, tree);
    expect(open.map((finding) => `${finding.code} ${finding.pointer}`)).toContain(
      `${code} ${pointer}`,
    );
    expect(new Set(open.map((finding) => finding.code))).toEqual(new Set([code, ...also]));
  });

  it('has an example for every "invalid if": three of each kind, and two of tests', () => {
    const count: Record<string, number> = {};
    for (const { kind } of bulletsOf(TABLE)) count[kind] = (count[kind] ?? 0) + 1;
    expect(count).toEqual({
      bug_fix: 3,
      test_creation: 2,
      dependency_bump: 3,
      data_transform: 3,
      document_extraction: 3,
      benchmark: 3,
      model_evaluation: 3,
      maintenance: 3,
    });
  });
});

// Keeps R-APPROVAL-NO-FALSE-ALARM.
describe('a contract that only looks like a mistake', () => {
  it.each(TABLE.accepted)('$file is accepted', ({ file, tree }) => {
    expect(openFindings('accepted', file, tree)).toEqual([]);
  });
});

describe('the table of contracts', () => {
  it.each(['refused', 'accepted'] as const)('names every file that is %s, once', (folder) => {
    const named = TABLE[folder].map(({ file }) => file);
    expect(named.toSorted()).toEqual(contractFiles(folder));
  });

  it('has at least 60 contracts, and uses every tree', () => {
    const all = [...TABLE.refused, ...TABLE.accepted];
    expect(all.length).toBeGreaterThanOrEqual(60);
    expect(new Set(all.map(({ tree }) => tree))).toEqual(new Set(Object.keys(TABLE.trees)));
  });
});

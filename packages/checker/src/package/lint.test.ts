import { describe, expect, it } from 'vitest';
import { CONTRACT_ROWS } from '../testing/contract-rows.ts';
import { FIXTURE_ROWS } from '../testing/fixture-rows.ts';
import { FOLDER_ROWS } from '../testing/folder-rows.ts';
import { fullFolder, problemFolder, toFiles } from '../testing/full-package.ts';
import { LINT_TABLE, type LintCode } from '../contract/lint-table.ts';
import { readCheckerFolder, readCheckerPackage } from './read-folder.ts';
import { starterFiles } from './starter.ts';

// Keeps R-CHECKER-LINT.

const DIGEST = '0'.repeat(64);
/** Each rule broken in a folder that breaks no other. */
const BROKEN = [
  ...[...CONTRACT_ROWS, ...FIXTURE_ROWS].map((row) => {
    const folder = fullFolder();
    row.change(folder);
    return { row, folder };
  }),
  ...FOLDER_ROWS.map((row) => {
    const folder = problemFolder();
    row.change(folder);
    return { row, folder };
  }),
];

function findingsOf(folder: Parameters<typeof toFiles>[0]) {
  return readCheckerFolder(toFiles(folder), DIGEST).findings;
}

describe('lint', () => {
  it('has nothing to say about a package as it should be', () => {
    expect(findingsOf(fullFolder())).toEqual([]);
    expect(findingsOf(problemFolder())).toEqual([]);
  });

  it.each(['checker', 'campaign'] as const)('has nothing to say about a new %s', (form) => {
    expect(readCheckerFolder(starterFiles(form), DIGEST).findings).toEqual([]);
  });

  it.each(BROKEN.map(({ row, folder }) => [row.code, row.what, row, folder] as const))(
    'says %s about %s',
    (code, _what, row, folder) => {
      const { file = 'verifier-contract.json', pointer, message, fix, also = [] } = row;
      const findings = findingsOf(folder);
      const { severity } = LINT_TABLE[code];
      expect(findings).toContainEqual({ file, pointer, code, severity, message, fix });
      expect(findings.map((each) => each.code).toSorted()).toEqual([code, ...also].toSorted());
    },
  );

  it('refuses a package for what it refuses, and for no advice', () => {
    for (const { row, folder } of BROKEN) {
      const reading = readCheckerPackage(toFiles(folder), DIGEST);
      const isRefused = reading.findings.some(({ severity }) => severity === 'refuse');
      expect([row.what, reading.package === null]).toEqual([row.what, isRefused]);
    }
  });

  it('tells of everything at once: one mistake hides no other', () => {
    const folder = problemFolder();
    for (const code of TOGETHER) {
      [...CONTRACT_ROWS, ...FIXTURE_ROWS, ...FOLDER_ROWS]
        .find((row) => row.code === code)
        ?.change(folder);
    }
    const codes = new Set(findingsOf(folder).map(({ code }) => code));
    expect(TOGETHER.filter((code) => !codes.has(code))).toEqual([]);
  });
});

const TOGETHER: readonly LintCode[] = [
  'key_unknown',
  'field_missing',
  'stage_field_refused',
  'stage_field_missing',
  'acceptance_invalid',
  'slots_unselected',
  'score_missing',
  'answer_format_refused',
  'summary_text_refused',
  'fixture_stage_unknown',
  'fixture_slot_unbound',
  'fixture_hash_wrong',
  'limit_out_of_range',
  'reference_unknown',
  'statement_missing',
  'sealing_missing',
  'file_unknown',
];

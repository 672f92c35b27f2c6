import { toPrintable } from '@kervyxa/core';
import type { ContractDraft, DraftFile } from '../contract/draft.ts';
import { lintFindingOf, type LintFinding } from '../contract/finding.ts';
import type { LintCode } from '../contract/lint-table.ts';
import { toPointer } from '../contract/pointer.ts';
import { LINK_ENDING } from './file-names.ts';
import { contentHashOf, findFixtureFile, type FolderView } from './folder-view.ts';
import { listReference } from './lint-reference.ts';

type Words = { readonly message: string; readonly fix: string };

/** Whether fixtures say what their files are, and whether there are enough of them. `file` is the contract. */
export function lintFixtures(file: string, draft: ContractDraft, view: FolderView): LintFinding[] {
  const at = (path: readonly PropertyKey[], code: LintCode, words: Words) =>
    lintFindingOf(code, { file, pointer: toPointer(path) }, words);
  const bytesMax = new Map(draft.slots.map((slot) => [slot.key, slot.bytesMax]));
  const limits = { bytesMax, sealedHashes: sealedHashesOf(draft, view) };
  return [
    ...draft.fixtures.flatMap(({ files }) =>
      files.flatMap((named) => fileProblems(named, view, limits, at)),
    ),
    ...draft.stages
      .filter(({ kind, key }) => kind === 'sandbox' && key !== null)
      .flatMap(({ key, path }) => {
        const results = draft.fixtures
          .filter(({ stageKey }) => stageKey === key)
          .map(({ expectedResult }) => expectedResult);
        return MISSING.filter(({ result }) => !results.includes(result)).map(({ code, ...words }) =>
          at(path, code, words),
        );
      }),
  ];
}

const MISSING = [
  {
    result: 'verified',
    code: 'fixture_verified_missing',
    message: 'expected a fixture of this stage that should be verified, got none',
    fix: 'Add one to conformance_fixtures: what answers to the statement, made up for the purpose.',
  },
  {
    result: 'refuted',
    code: 'fixture_refuted_missing',
    message: 'expected a fixture of this stage that should be refuted, got none',
    fix: 'Add one to conformance_fixtures: a plausible answer that is wrong.',
  },
  {
    result: 'inconclusive',
    code: 'fixture_inconclusive_missing',
    message: 'expected a fixture of this stage that should be inconclusive, got none',
    fix: 'Add one, where the program can tell what it can not read from what is wrong.',
  },
] as const;

/** What sealed slots are bound to: a contract is published with its fixtures, so that none of it may be among them. */
function sealedHashesOf({ slots }: ContractDraft, view: FolderView): ReadonlySet<string> {
  const sealed = new Set(slots.filter((slot) => slot.sealed).map(({ key }) => key));
  const files = listReference(view).filter(({ slot, isLink }) => sealed.has(slot) && !isLink);
  return new Set(files.map(({ content }) => contentHashOf(content)));
}

interface FileLimits {
  readonly bytesMax: ReadonlyMap<string | null, number | null>;
  readonly sealedHashes: ReadonlySet<string>;
}

function fileProblems(
  { path, slot, filename, contentHash, sizeBytes }: DraftFile,
  view: FolderView,
  { bytesMax, sealedHashes }: FileLimits,
  at: (path: readonly PropertyKey[], code: LintCode, words: Words) => LintFinding,
): LintFinding[] {
  if (filename === null) return [];
  const name = toPrintable(filename, 255);
  const found = findFixtureFile(view, filename);
  if (found === null) {
    return [
      at([...path, 'filename'], 'fixture_file_missing', {
        message: `expected ${name} under fixtures/ or reference/, got no such file`,
        fix: 'Add the file, or name one that is there.',
      }),
    ];
  }
  if (found.path.includes('reference/') && filename.endsWith(LINK_ENDING)) {
    return [
      at([...path, 'filename'], 'fixture_link_refused', {
        message: `expected a file, got the link ${name}`,
        fix: 'Put the bytes themselves under fixtures/.',
      }),
    ];
  }
  const { content } = found;
  const problems: LintFinding[] = [];
  const hash = contentHashOf(content);
  if (sealedHashes.has(hash)) {
    problems.push(
      at([...path, 'filename'], 'fixture_unsealed', {
        message: `expected bytes made up for the purpose, got those of a sealed slot in ${name}`,
        fix: 'Invent others and put them under fixtures/: fixtures and their hashes are published.',
      }),
    );
  }
  const fix = 'Run "kervyxa checker lint DIR --fix", which writes hashes and sizes.';
  if (contentHash !== hash) {
    const message = `expected ${hash}, which ${name} has, got ${got(contentHash)}`;
    problems.push(at([...path, 'content_hash'], 'fixture_hash_wrong', { message, fix }));
  }
  // Where neither is written yet, --fix writes both: one finding says it.
  const isBare = contentHash === undefined && sizeBytes === undefined;
  if (!isBare && sizeBytes !== content.length) {
    const message = `expected ${content.length}, the bytes of ${name}, got ${got(sizeBytes)}`;
    problems.push(at([...path, 'size_bytes'], 'fixture_size_wrong', { message, fix }));
  }
  const max = (slot === null ? null : bytesMax.get(slot)) ?? null;
  if (max !== null && content.length > max) {
    problems.push(
      at(path, 'fixture_file_too_large', {
        message: `expected at most ${max} bytes, which the slot allows, got ${content.length}`,
        fix: 'Take a smaller file, or allow more in max_bytes.',
      }),
    );
  }
  return problems;
}

function got(value: unknown): string {
  if (value === undefined) return 'none';
  return typeof value === 'object' ? 'something else' : toPrintable(String(value), 100);
}

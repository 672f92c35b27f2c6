import { describe, expect, it } from 'vitest';
import { fullFolder, toFiles } from '../testing/full-package.ts';
import { put } from '../testing/lint-row.ts';
import { fixFixtures } from './fix-fixtures.ts';
import type { FolderFiles } from './folder-view.ts';
import { readCheckerFolder } from './read-folder.ts';
import { starterFiles } from './starter.ts';

const FILE = 'verifier-contract.json';

function fixed(files: FolderFiles): FolderFiles {
  return new Map([
    ...files,
    ...fixFixtures(files).map(({ path, content }) => [path, content] as const),
  ]);
}

function textOf(files: FolderFiles, path = FILE): string {
  return Buffer.from(files.get(path) ?? '').toString();
}

describe('lint --fix', () => {
  it('has nothing to write where hashes and sizes are right', () => {
    expect(fixFixtures(toFiles(fullFolder()))).toEqual([]);
  });

  it('writes wrong and missing hashes and sizes, and lint is content', () => {
    const folder = fullFolder();
    const at = ['conformance_fixtures', 0, 'inputs', 'artifacts', 0];
    put(folder.contract, [...at, 'content_hash'], undefined);
    put(folder.contract, [...at, 'size_bytes'], undefined);
    folder.files['fixtures/made-up.csv'] = 'row,label\n1,bird\n';
    const files = toFiles(folder);
    const [written] = fixFixtures(files);
    expect(written?.written).toContain(
      '/conformance_fixtures/0/inputs/reference/labels/content_hash',
    );
    expect(readCheckerFolder(fixed(files), '0').findings).toEqual([]);
  });

  it('keeps order, blanks and line ends of everything else', () => {
    const folder = fullFolder();
    const text = textOf(toFiles(folder))
      .replaceAll('\n', '\r\n')
      .replace('"title":', '"title"  :')
      .replace(/"content_hash": "sha256:[0-9a-f]{64}"/, '"content_hash":   "sha256:0"');
    const before = new Map(toFiles(folder)).set(FILE, Buffer.from(text));
    const [, hash = ''] =
      /"content_hash": "(sha256:[0-9a-f]{64})"/.exec(textOf(toFiles(folder))) ?? [];
    expect(textOf(fixed(before))).toBe(text.replace('"sha256:0"', `"${hash}"`));
  });

  it('leaves alone what is wrong otherwise', () => {
    const folder = fullFolder();
    put(folder.contract, ['title'], '');
    put(folder.contract, ['conformance_fixtures', 0, 'inputs', 'artifacts', 0, 'filename'], 'gone');
    expect(fixFixtures(toFiles(folder))).toEqual([]);
    const unreadable = new Map(toFiles(folder)).set(FILE, Buffer.from('{'));
    expect(fixFixtures(unreadable)).toEqual([]);
  });

  it('writes into the contract of each problem of a campaign', () => {
    const own = [...starterFiles('checker')].map(
      ([path, content]) => [`problems/first/${path}`, content] as const,
    );
    const files = new Map([...starterFiles('campaign'), ...own])
      .set('problems/first/fixtures/adds-up.json', Buffer.from('{"items": [], "total": 0}'))
      .set('fixtures/one-off.json', Buffer.from('{"items": [], "total": 1}'));
    const written = fixFixtures(files);
    expect(written.map(({ path }) => path).toSorted()).toEqual([
      'problems/first/verifier-contract.json',
      'verifier-contract.json',
    ]);
    expect(readCheckerFolder(fixed(files), '0').findings).toEqual([]);
  });
});

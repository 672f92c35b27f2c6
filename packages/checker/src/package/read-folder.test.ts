import { sealTree, type TreeEntry } from '@kervyxa/core';
import { describe, expect, it } from 'vitest';
import { LINT_TABLE } from '../contract/lint-table.ts';
import { VerifierContractSchema } from '../contract/verifier-contract.ts';
import { CONTRACT_ROWS } from '../testing/contract-rows.ts';
import { FIXTURE_ROWS } from '../testing/fixture-rows.ts';
import { FOLDER_ROWS } from '../testing/folder-rows.ts';
import { fullFolder, problemFolder, toFiles } from '../testing/full-package.ts';
import { put } from '../testing/lint-row.ts';
import { publishedContract } from '../testing/published-contract.ts';
import { simplePackage } from '../testing/simple-package.ts';
import { readArchiveFiles } from './archive-files.ts';
import type { FolderFiles } from './folder-view.ts';
import { readCheckerFolder, readCheckerPackage } from './read-folder.ts';
import { starterFiles } from './starter.ts';

const DIGEST = 'ab'.repeat(32);

function codesOf(files: FolderFiles): string[] {
  return readCheckerFolder(files, DIGEST).findings.map(({ file, code }) => `${file} ${code}`);
}

function changed(files: FolderFiles, changes: Record<string, string | null>): FolderFiles {
  const next = new Map(files);
  for (const [path, text] of Object.entries(changes)) {
    if (text === null) next.delete(path);
    else next.set(path, Buffer.from(text));
  }
  return next;
}

describe('a checker package', () => {
  it('is read with what its author left out filled in', () => {
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

  it('has the programs of its sandbox stages, its reference inputs and its protocol', () => {
    const { package: found } = readCheckerPackage(toFiles(fullFolder()), DIGEST);
    expect([...(found?.programs.keys() ?? [])]).toEqual(['form', 'measure']);
    expect([...(found?.reference.keys() ?? [])]).toEqual(['labels']);
    expect(found?.reference.get('labels')?.filename).toBe('labels.csv');
    expect(found?.reviewProtocol?.title).toBe('Reading');
    expect(JSON.stringify(found?.contract)).not.toMatch(/implementation|limits/);
  });

  it('comes to a document that may be published, once it has what publication gives', () => {
    const { package: found } = readCheckerPackage(toFiles(fullFolder()), DIGEST);
    const { id, verifier_id, version_number, created_by_user_id, created_at, yanked_at } =
      publishedContract();
    const published = {
      ...found?.contract,
      id,
      verifier_id,
      version_number,
      created_by_user_id,
      created_at,
      yanked_at,
    };
    put(published, ['stages', 2, 'review_protocol_id'], 'rpt_01jf90aa4rrc');
    expect(VerifierContractSchema.parse(published)).toEqual(published);
  });

  it('has another program once a byte of the script, a limit or the builtin is another', () => {
    const digestOf = (change: (folder: ReturnType<typeof fullFolder>) => void) => {
      const folder = fullFolder();
      change(folder);
      return readCheckerPackage(toFiles(folder), DIGEST).package?.programs.get('measure')?.digest;
    };
    const digests = [
      digestOf(() => undefined),
      digestOf(({ files }) => void (files['checker.py'] = '# compares.\n')),
      digestOf(({ contract }) => put(contract, ['stages', 1, 'limits', 'disk_mb'], 65)),
      digestOf(({ contract }) =>
        put(contract, ['stages', 1, 'implementation'], `x@sha256:${'1'.repeat(64)}`),
      ),
    ];
    expect(new Set(digests).size).toBe(digests.length);
    expect(digests).not.toContain(undefined);
    // What the file is called, and what stands beside it, is no part of the program.
    expect(
      digestOf(({ contract, files }) => {
        put(contract, ['stages', 1, 'implementation'], './renamed.py');
        files['renamed.py'] = files['checker.py'] ?? null;
        files['fixtures/more.csv'] = 'more';
      }),
    ).toBe(digests[0]);
  });

  it('is the same from an archive of its folder', async () => {
    const files = toFiles(fullFolder());
    const entries = [...files].map(([path, content]): TreeEntry => {
      return { type: 'file', path, executable: false, size: content.length, content };
    });
    const archive = await sealTree([
      { type: 'folder', path: 'fixtures' },
      ...entries.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
    ]);
    const unpacked = await readArchiveFiles(archive, new AbortController().signal);
    const [fromFolder, fromArchive] = [files, unpacked].map((each) =>
      readCheckerPackage(each, archive.digest),
    );
    expect(fromArchive?.package?.digest).toBe(archive.digest);
    expect(fromArchive?.package?.programs).toEqual(fromFolder?.package?.programs);
    expect(fromArchive?.package?.contract).toEqual(fromFolder?.package?.contract);
  });

  it('is told without reference inputs that it can serve no criterion, and is one', () => {
    const files = changed(toFiles(fullFolder()), {
      'reference/labels.csv': null,
      'fixtures/labels.csv': 'row,label\n1,cat\n',
    });
    const { package: found, findings } = readCheckerPackage(files, DIGEST);
    expect(findings).toEqual([
      {
        file: 'verifier-contract.json',
        pointer: '/reference_inputs/0',
        code: 'reference_unbound',
        severity: 'advise',
        message: 'expected a file for the required slot "labels" under reference/, got none',
        fix: 'Put it there under the name labels and an extension.',
      },
    ]);
    expect(found).not.toBeNull();
  });

  it.each([
    [
      'an empty folder',
      new Map(),
      'expected verifier-contract.json, problem.json or campaign.json in the folder, got none',
      'Give the folder that holds it; "kervyxa checker init DIR" writes a new one.',
    ],
    [
      'a problem without a contract',
      changed(new Map(), minimal()),
      'expected one checker package, got a problem without a contract',
      'Write verifier-contract.json: without it nothing is checked.',
    ],
    [
      'a campaign of two problems',
      twoProblems(),
      'expected one checker package, got a campaign of 2 problems',
      'Give the folder of one problem, with what it shares with its campaign copied into it.',
    ],
  ])('is not %s', (_what, files: FolderFiles, message, fix) => {
    const { package: found, findings } = readCheckerPackage(files, DIGEST);
    const row = { pointer: '', code: 'contract_missing', severity: 'refuse' };
    expect(found).toBeNull();
    expect(findings).toContainEqual({ ...row, file: 'verifier-contract.json', message, fix });
  });
});

function minimal(): Record<string, string> {
  return {
    'problem.json': '{"slug": "primes", "title": "Primes", "summary": "Find one."}',
    'statement.md': 'Find a prime.',
  };
}

function twoProblems(): FolderFiles {
  return changed(starterFiles('campaign'), {
    'problems/second/problem.json': '{"slug": "second", "title": "Two", "summary": "Another."}',
    'problems/second/statement.md': 'Another report.',
  });
}

describe('a problem', () => {
  it('needs no more than two files', () => {
    const { problems, findings } = readCheckerFolder(changed(new Map(), minimal()), DIGEST);
    expect(findings).toEqual([]);
    expect(problems).toMatchObject([
      { folder: '', details: { slug: 'primes', structure: 'SOLVE', priority_weight: 0.5 } },
    ]);
  });

  it('may state what is elsewhere, which its package has no bytes of', () => {
    const folder = problemFolder();
    put(folder.contract, ['stages', 0, 'reference_input_slots'], []);
    put(folder.contract, ['stages', 1, 'reference_input_slots'], ['labels']);
    folder.files['reference/columns.link.json'] = JSON.stringify({
      url: 'https://example.org/columns.csv',
      content_hash: `sha256:${'a'.repeat(64)}`,
      size_bytes: 2_000_000,
      media_type: 'text/csv',
    });
    const [problem] = readCheckerFolder(toFiles(folder), DIGEST).problems;
    expect(problem?.links.get('columns')?.size_bytes).toBe(2_000_000);
    expect([...(problem?.package?.reference.keys() ?? [])]).toEqual(['labels']);
  });
});

describe('a campaign', () => {
  it('shares its contract, program and fixtures with every problem', () => {
    const { campaign, problems, findings } = readCheckerFolder(twoProblems(), DIGEST);
    expect(findings).toEqual([]);
    expect(campaign?.slug).toBe('reports');
    expect(problems.map(({ folder }) => folder)).toEqual(['problems/first/', 'problems/second/']);
    for (const problem of problems) expect(problem.package?.programs.has('sum_check')).toBe(true);
  });

  it('lets a problem have a contract of its own, with its own script', () => {
    const own = Object.fromEntries(
      [...simplePackage()].map(([path, content]) => [
        `problems/second/${path}`,
        Buffer.from(content).toString(),
      ]),
    );
    const { problems, findings } = readCheckerFolder(changed(twoProblems(), own), DIGEST);
    expect(findings).toEqual([]);
    expect(problems.map((problem) => [...(problem.package?.programs.keys() ?? [])])).toEqual([
      ['sum_check'],
      ['structure'],
    ]);
  });

  it('tells of what is wrong with what is shared once', () => {
    const files = changed(twoProblems(), { 'fixtures/adds-up.json': '{}' });
    expect(codesOf(files)).toEqual([
      'verifier-contract.json fixture_hash_wrong',
      'verifier-contract.json fixture_size_wrong',
    ]);
  });

  it('says which problem is none, and which two have one name', () => {
    const files = changed(twoProblems(), {
      'problems/second/problem.json': '{"slug": "first-report", "title": "Two", "summary": "A."}',
      'problems/third/statement.md': 'Nothing else.',
    });
    expect(codesOf(files)).toEqual([
      'problems/second/problem.json key_duplicated',
      'problems/third/problem.json problem_missing',
    ]);
    expect(readCheckerFolder(files, DIGEST).findings).toContainEqual({
      file: 'problems/third/problem.json',
      pointer: '',
      code: 'problem_missing',
      severity: 'refuse',
      message: 'expected problem.json in a folder of problems/, got none',
      fix: 'Write slug, title and summary into it.',
    });
  });

  it('is advised of having no problems, and of files that only a problem has', () => {
    const files = changed(starterFiles('campaign'), {
      'problems/first/problem.json': null,
      'problems/first/statement.md': null,
      'statement.md': 'A statement of nothing.',
    });
    expect(codesOf(files)).toEqual(['campaign.json campaign_empty', 'statement.md file_unknown']);
    expect(readCheckerFolder(files, DIGEST).findings).toContainEqual({
      file: 'campaign.json',
      pointer: '',
      code: 'campaign_empty',
      severity: 'advise',
      message: 'expected folders in problems/, got none',
      fix: 'Write problem.json and statement.md into problems/NAME/.',
    });
  });
});

describe('a contract that is no JSON', () => {
  it('makes no script of the folder a stranger', () => {
    const files = changed(starterFiles('checker'), { 'verifier-contract.json': '{', 'a.txt': 'x' });
    expect(codesOf(files)).toEqual(['verifier-contract.json json_invalid', 'a.txt file_unknown']);
  });
});

describe('every code of lint', () => {
  it('has a folder above, or a row of a table, that brings it about', () => {
    const rows = [...CONTRACT_ROWS, ...FIXTURE_ROWS, ...FOLDER_ROWS].map(({ code }) => code);
    const here = ['contract_missing', 'reference_unbound', 'problem_missing', 'campaign_empty'];
    // Takes a thread: lint-schemas.test.ts.
    const known = new Set<string>([...rows, ...here, 'evidence_schema_broken']);
    expect(Object.keys(LINT_TABLE).filter((code) => !known.has(code))).toEqual([]);
  });
});

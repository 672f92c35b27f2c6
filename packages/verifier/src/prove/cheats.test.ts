import { createFakeIntake, fakeCommitId, type FakeTree } from '@kervyxa/intake/fake';
import { describe, expect, it } from 'vitest';
import { contractWith, criterion } from '../testing/contract.ts';
import { type CheatPlan, planCheats } from './cheats.ts';

async function planOf(
  base: FakeTree,
  good: FakeTree,
  criteria = [criterion('tests')],
  constraints: Parameters<typeof contractWith>[0]['constraints'] = {},
): Promise<CheatPlan> {
  const url = 'https://git.kervyxa.example/x.git';
  const [baseCommit, commit] = [fakeCommitId('base'), fakeCommitId('good')];
  const intake = createFakeIntake({
    commits: { [baseCommit]: { tree: base }, [commit]: { tree: good, parents: [baseCommit] } },
  });
  const asked = { baseRepositoryUrl: url, repositoryUrl: url, baseCommit, commit };
  const outcome = await intake.fetchCommit(asked, new AbortController().signal);
  if (outcome.kind !== 'fetched') throw new Error(outcome.message);
  return planCheats(contractWith({ criteria, constraints }), outcome.source);
}

const idsOf = ({ cheats }: CheatPlan) => cheats.map(({ id }) => id);

function benchmark(id: string, op: string, threshold: number) {
  const metric = { name: 'steps', unit: 'steps', op, threshold };
  return criterion(id, { type: 'benchmark', metric });
}

describe('a plan of cheats', () => {
  it('reverts changed, added and deleted files, one at a time', async () => {
    const plan = await planOf({ a: '1', c: '1' }, { a: '2', b: '1' });
    expect(idsOf(plan)).toEqual(['empty-diff', 'reverted-1', 'reverted-2', 'reverted-3']);
    expect(plan.cheats[3]?.edits).toEqual([{ kind: 'revert', path: 'c' }]);
  });

  it('reverts several at a time where a commit changes hundreds', async () => {
    const many = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`f${at}`, 'x']));
    const { cheats, notes } = await planOf({ a: '1' }, { a: '1', ...many });
    const reverts = cheats.filter(({ kind }) => kind === 'file_reverted');
    expect(reverts.length).toBeLessThanOrEqual(64);
    expect(reverts.flatMap(({ edits }) => edits)).toHaveLength(200);
    expect(notes).toContainEqual(
      expect.stringMatching(
        /^200 changed files share \d+ columns: where one of a column is needed/,
      ),
    );
  });

  it.each([
    'test/x.txt',
    'src/__tests__/x.js',
    'spec/x.rb',
    'x.test.js',
    'src/x.spec.ts',
    'x_test.go',
    'test_x.py',
    'tests.py',
    'Tests/X.cs',
  ])('takes %s for a test', async (path) => {
    const plan = await planOf({ [path]: '1', a: '1' }, { [path]: '1', a: '2' });
    const deleted = plan.cheats.find(({ kind }) => kind === 'tests_deleted');
    expect(deleted?.edits).toEqual([{ kind: 'delete', path }]);
  });

  // A commit that touches one of them fails whatever the criteria do.
  const MANY = { 'test/a.js': '1', 'test/b.js': '1', 'test/c.bin': '1', 'src/d.test.js': '1' };
  const deletedOf = ({ cheats }: CheatPlan) =>
    cheats
      .filter(({ kind }) => kind === 'tests_deleted')
      .map(({ from, edits }) => [from, ...edits.map(({ path }) => path)]);

  it.each<[string, Record<string, unknown>, string[][]]>([
    [
      'all where none is protected',
      {},
      [['commit', 'src/d.test.js', 'test/a.js', 'test/b.js', 'test/c.bin']],
    ],
    ['not the protected', { protectedPaths: ['test/'] }, [['commit', 'src/d.test.js']]],
    [
      'not those beside editablePaths',
      { editablePaths: ['a', 'test/a*'] },
      [['commit', 'test/a.js']],
    ],
    [
      'not those of another language',
      { allowedLanguages: ['javascript'] },
      [['commit', 'src/d.test.js', 'test/a.js', 'test/b.js']],
    ],
    [
      'as many as may change, beside the solution and without it',
      { maxChangedFiles: 2 },
      [
        ['commit', 'src/d.test.js'],
        ['base', 'src/d.test.js', 'test/a.js'],
      ],
    ],
    [
      'at base only, where the solution leaves no room',
      { maxChangedFiles: 1 },
      [['base', 'src/d.test.js']],
    ],
    [
      'all, to show it, where every one is protected',
      { protectedPaths: ['test/', '**/*.test.js'] },
      [['commit', 'src/d.test.js', 'test/a.js', 'test/b.js', 'test/c.bin']],
    ],
  ])('deletes the tests that policy lets go: %s', async (_, constraints, expected) => {
    const plan = await planOf({ ...MANY, a: '1' }, { ...MANY, a: '2' }, undefined, {
      maxChangedFiles: 9,
      ...constraints,
    });
    expect(deletedOf(plan)).toEqual(expected);
  });

  it('deletes a test that the commit adds, however full the commit is', async () => {
    const plan = await planOf({ a: '1' }, { a: '2', 'test/n.js': '1' }, undefined, {
      protectedPaths: ['test/old/'],
      maxChangedFiles: 2,
    });
    expect(deletedOf(plan)).toEqual([['commit', 'test/n.js']]);
  });

  it.each([
    'contest.js',
    'latest/x.js',
    'attestation.py',
    'inspection/a',
    'protest_song.txt',
    'spec/openapi.yaml',
    '.github/workflows/tests.yml',
  ])('takes %s for none', async (path) => {
    expect(idsOf(await planOf({ [path]: '1', a: '1' }, { [path]: '1', a: '2' }))).toEqual([
      'empty-diff',
      'reverted-1',
    ]);
  });

  it.each([
    ['lt', 60_000_000, '0'],
    ['lt', 0, '-1'],
    ['lte', -5, '-5'],
    ['lte', 5, '0'],
    ['gt', 0.82, '1.8199999999999998'],
    ['gte', 0.82, '0.82'],
    ['eq', 7, '7'],
  ])('prints for a metric %s %d the value %s', async (op, threshold, value) => {
    const { cheats } = await planOf({ 'a.py': '' }, { 'a.py': 'x' }, [
      benchmark('b', op, threshold),
    ]);
    const printed = cheats.find(({ kind }) => kind === 'metric_printed');
    const content = Buffer.from(`print('KERVYXA_METRIC=${value}', flush=True)\n`);
    expect(printed?.edits).toEqual([{ kind: 'write', path: 'a.py', content }]);
  });

  it('writes into programs as the base has them, into added ones alone, and says what it leaves out', async () => {
    const plan = await planOf(
      { 'a.js': 'old();\n', 'gone.js': 'x', 'l.js': { symlink: 'a.js' }, 'lib.rs': '1', data: '1' },
      {
        'a.js': 'new();\n',
        'b.py': 'b()\n',
        'l.js': { symlink: 'b.js' },
        'lib.rs': '2',
        data: '2',
      },
    );
    const exits = plan.cheats.filter(({ kind }) => kind === 'exits_at_import');
    expect(exits.map(({ edits }) => edits)).toEqual([
      [{ kind: 'write', path: 'a.js', content: Buffer.from('process.exit(0);\nold();\n') }],
      [{ kind: 'write', path: 'b.py', content: Buffer.from('import os; os._exit(0)\n') }],
    ]);
    expect(plan.notes).toEqual([expect.stringContaining('lib.rs')]);
  });

  it('writes into programs without an extension, told by their first line, and keeps that of an added one', async () => {
    const plan = await planOf(
      { 'bin/old': '#!/usr/bin/env node\nold();\n', 'bin/ruby': '#!/usr/bin/ruby\n', data: '#1' },
      {
        'bin/old': '#!/usr/bin/env node\nnew();\n',
        'bin/new': '#!/bin/sh\nnew\n',
        'bin/ruby': '#!/usr/bin/ruby\nnew\n',
        data: '#2',
        Makefile: 'all:\n',
      },
    );
    const exits = plan.cheats.filter(({ kind }) => kind === 'exits_at_import');
    const contents = exits.flatMap(({ edits }) =>
      edits.map((edit) => [edit.path, edit.kind === 'write' ? String(edit.content) : '']),
    );
    expect(contents).toEqual([
      ['bin/new', '#!/bin/sh\nexit 0\n'],
      ['bin/old', '#!/usr/bin/env node\nprocess.exit(0);\nold();\n'],
    ]);
    expect(plan.notes.map((note) => /into (\S+):/.exec(note)?.[1])).toEqual([
      'Makefile',
      'bin/ruby',
    ]);
  });

  it('says that nothing could be made to print or leave where the commit changes no program', async () => {
    const none = await planOf({ 'model.onnx': '1' }, { 'model.onnx': '2' });
    expect(none.notes).toEqual([expect.stringContaining('changes no program')]);
    expect((await planOf({ 'a.py': '1' }, { 'a.py': '2' })).notes).toEqual([]);
  });

  it('prints one value where it meets every metric: what a cheat would print', async () => {
    const criteria = [
      benchmark('a', 'lt', 100),
      benchmark('b', 'gte', 80),
      benchmark('c', 'gt', 9),
    ];
    const { cheats } = await planOf({ 'a.js': '' }, { 'a.js': 'x' }, criteria);
    const printed = cheats.filter(({ kind }) => kind === 'metric_printed');
    expect(printed.map(({ title }) => title)).toEqual([
      'Base, with KERVYXA_METRIC=80 printed at the end of a.js',
      'Base, with KERVYXA_METRIC=80 written over what is printed after a.js',
    ]);
  });

  it('costs no more than a few hundred trees, whatever there is to print and where', async () => {
    const criteria = Array.from({ length: 64 }, (_, at) => benchmark(`m${at}`, 'eq', at));
    const programs = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`f${at}.js`, 'x']));
    const { cheats, notes } = await planOf({ 'a.js': '' }, { 'a.js': 'x', ...programs }, criteria);
    expect(cheats.filter(({ kind }) => kind === 'metric_printed')).toHaveLength(2 * 64);
    expect(notes).toContainEqual(expect.stringMatching(/^201 programs share one column/));
    expect(cheats.length).toBeLessThan(300);
  });

  it('prints each best value once, however many metrics share it', async () => {
    const criteria = [benchmark('a', 'lt', 5), benchmark('b', 'lt', 9), benchmark('c', 'gt', 9)];
    expect(idsOf(await planOf({ 'a.js': '' }, { 'a.js': 'x' }, criteria))).toEqual([
      'empty-diff',
      'reverted-1',
      'metric-printed-1',
      'metric-printed-1-2',
      'metric-rewritten-1',
      'metric-rewritten-1-2',
      'exits-1',
      'exits-1-2',
      'exits-1-3',
    ]);
  });
});

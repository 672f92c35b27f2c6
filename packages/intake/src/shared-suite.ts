import type { CommitSha, TreeArchive } from '@kervyxa/core';
import { Parser } from 'tar';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FakeCommit } from './fake/index.ts';
import type { CandidateTree, FetchedCommit, Intake, TreeFiles } from './port.ts';

/** Name → commit; parents are names, and come first. */
export type Scenario = Readonly<Record<string, FakeCommit>>;

export interface IntakeHarness {
  readonly intake: Intake;
  readonly url: string;
  id(name: string): CommitSha;
  close(): Promise<void>;
}

const LFS_POINTER = `version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize 12345\n`;

const BASE = {
  '.gitattributes': '*.txt text eol=crlf\nsecret export-ignore\n',
  'Old/A.txt': 'twin of old/a.txt\n',
  'a.txt': 'one\ntwo\n',
  'art.psd': LFS_POINTER,
  'odd\\name': 'the base may have it\n',
  'old/a.txt': 'twin of Old/A.txt\n',
  'protected/verify.sh': { content: '#!/bin/sh\n', mode: '100755' },
  secret: 'kept\n',
  sub: { gitlink: '1'.repeat(40) },
} as const;

const without = (...paths: (keyof typeof BASE)[]): FakeCommit['tree'] =>
  Object.fromEntries(Object.entries(BASE).filter(([path]) => !paths.some((gone) => gone === path)));

/** Solutions on top of `base`, each with its one difference. */
const COMMITS = {
  base: { tree: BASE, message: 'The base\n\nKervyxa-Claim: none\n' },
  fix: { tree: { ...BASE, 'a.txt': 'one\n2\n', 'src/new.ts': 'export {};\n' }, parents: ['base'] },
  renamed: {
    tree: { ...without('protected/verify.sh'), 'src/moved.sh': BASE['protected/verify.sh'] },
    parents: ['base'],
  },
  'mode only': {
    tree: { ...BASE, 'a.txt': { content: 'one\ntwo\n', mode: '100755' } },
    parents: ['base'],
  },
  'adds a program': {
    tree: { ...BASE, run: { content: 'exit 0\n', mode: '100755' } },
    parents: ['base'],
  },
  'link instead of folder': {
    tree: { ...without('protected/verify.sh'), protected: { symlink: 'Old' } },
    parents: ['base'],
  },
  'file becomes link': { tree: { ...BASE, 'a.txt': { symlink: 'secret' } }, parents: ['base'] },
  'same tree': { tree: BASE, parents: ['base'] },
  elsewhere: { tree: BASE },
  'second parent': { tree: { only: 'this\n' }, parents: ['elsewhere', 'base'] },
  'good links': {
    tree: {
      ...BASE,
      'deep/up': { symlink: '../a.txt' },
      'deep/nowhere': { symlink: '../not-there-yet/x' },
      'deep/folder': { symlink: '..' },
    },
    parents: ['base'],
  },
  'absolute link': { tree: { ...BASE, l: { symlink: '/etc/passwd' } }, parents: ['base'] },
  'link out': { tree: { ...BASE, 'a/l': { symlink: '../../x' } }, parents: ['base'] },
  'links out together': {
    tree: { ...BASE, 'x/y/up': { symlink: '../..' }, z: { symlink: 'x/y/up/..' } },
    parents: ['base'],
  },
  'links in a circle': {
    tree: { ...BASE, p: { symlink: 'q' }, q: { symlink: 'p' } },
    parents: ['base'],
  },
  'case twin': { tree: { ...BASE, 'Protected/verify.sh': 'mine\n' }, parents: ['base'] },
  'new submodule': {
    tree: {
      ...BASE,
      '.gitmodules': '[submodule "lib"]\n\tpath = lib\n\turl = file:///\n\tignore = all\n',
      lib: { gitlink: '2'.repeat(40) },
    },
    parents: ['base'],
  },
  'moved submodule': { tree: { ...BASE, sub: { gitlink: '3'.repeat(40) } }, parents: ['base'] },
  'submodule gone': { tree: without('sub'), parents: ['base'] },
  'lfs pointer': { tree: { ...BASE, 'model.bin': LFS_POINTER }, parents: ['base'] },
  'control character': { tree: { ...BASE, 'a\nprotected': 'x' }, parents: ['base'] },
  'odd folders in base': {
    tree: { ...BASE, 'odd\\dir/x': 'x', 'git~1/config': 'x', 'ends./y': 'y' },
  },
  'fix beside odd folders': {
    tree: { ...BASE, 'odd\\dir/x': 'x', 'git~1/config': 'x', 'ends./y': 'y', 'a.txt': '2\n' },
    parents: ['odd folders in base'],
  },
  'base of a long name': { tree: { ...BASE, ['n'.repeat(256)]: 'x' } },
  'fix of a long name': {
    tree: { ...BASE, ['n'.repeat(256)]: 'x', 'a.txt': '2\n' },
    parents: ['base of a long name'],
  },
  'pointer made executable': {
    tree: { ...BASE, 'art.psd': { content: LFS_POINTER, mode: '100755' } },
    parents: ['base'],
  },
  'unicode and quotes': { tree: { ...BASE, 'né "x"\u{1f600}.txt': 'x' }, parents: ['base'] },
} as const satisfies Scenario;

type Name = keyof typeof COMMITS;

/** What every intake does, whatever is behind it. */
export function describeIntake(
  name: string,
  start: (scenario: Scenario) => Promise<IntakeHarness>,
): void {
  describe(`${name}, as every intake,`, () => {
    let harness: IntakeHarness;
    const { signal } = new AbortController();

    beforeAll(async () => {
      harness = await start(COMMITS);
    });

    afterAll(async () => {
      await harness.close();
    });

    const fetchOutcome = (commit: Name | CommitSha, base: Name = 'base') =>
      harness.intake.fetchCommit(
        {
          baseRepositoryUrl: harness.url,
          repositoryUrl: harness.url,
          baseCommit: harness.id(base),
          commit: commit in COMMITS ? harness.id(commit) : (commit as CommitSha),
        },
        signal,
      );

    const fetched = async (commit: Name, base: Name = 'base'): Promise<FetchedCommit> => {
      const outcome = await fetchOutcome(commit, base);
      if (outcome.kind !== 'fetched') throw new Error(`expected a commit: ${outcome.message}`);
      return outcome.source;
    };

    const revert = async (commit: Name, path: string): Promise<CandidateTree> =>
      (await fetched(commit)).derive('commit', [{ kind: 'revert', path }]);

    const changesOf = async (commit: Name): Promise<unknown[]> =>
      (await fetched(commit)).changedFiles.map(({ path, status }) => [status, path]);

    it('names the commit, its message and both trees', async () => {
      const [fix, base] = [await fetched('fix'), await fetched('base')];
      expect(fix.commit).toBe(harness.id('fix'));
      expect(base.message).toBe('The base\n\nKervyxa-Claim: none\n');
      expect(fix.baseTree).toBe(base.tree);
      expect(fix.tree).not.toBe(base.tree);
      await fix.close();
      await fix.close();
    });

    it('lists changed and added files', async () => {
      expect((await fetched('fix')).changedFiles).toEqual([
        { path: 'a.txt', status: 'modified', baseMode: '100644', mode: '100644' },
        { path: 'src/new.ts', status: 'added', baseMode: '000000', mode: '100644' },
      ]);
    });

    it('D01 renames a protected file away: the deletion is listed too', async () => {
      expect(await changesOf('renamed')).toEqual([
        ['deleted', 'protected/verify.sh'],
        ['added', 'src/moved.sh'],
      ]);
    });

    it('D07 makes a file executable and nothing else: that is a change', async () => {
      expect((await fetched('mode only')).changedFiles).toEqual([
        { path: 'a.txt', status: 'modified', baseMode: '100644', mode: '100755' },
      ]);
    });

    it('D08 puts a link in the place of a protected folder: both changes are listed', async () => {
      expect(await changesOf('link instead of folder')).toEqual([
        ['added', 'protected'],
        ['deleted', 'protected/verify.sh'],
      ]);
      expect(await changesOf('file becomes link')).toEqual([['type_changed', 'a.txt']]);
    });

    it('D31 submits the base itself, or its tree again: no change', async () => {
      for (const commit of ['base', 'same tree'] as const) {
        const { isDescendant, changedFiles, treeFaults } = await fetched(commit);
        expect({ isDescendant, changedFiles, treeFaults }).toEqual({
          isDescendant: true,
          changedFiles: [],
          treeFaults: [],
        });
      }
    });

    it('tells a commit that does not descend from the base', async () => {
      for (const [commit, base] of [
        ['elsewhere', 'base'],
        ['base', 'fix'],
        ['renamed', 'fix'],
      ] as const) {
        const { isDescendant, changedFiles } = await fetched(commit, base);
        expect({ isDescendant, changedFiles }).toEqual({ isDescendant: false, changedFiles: [] });
      }
    });

    it('D26 merges the base in for the ancestry and keeps a foreign tree: all of it is changed', async () => {
      const { isDescendant, changedFiles } = await fetched('second parent');
      expect(isDescendant).toBe(true);
      expect(changedFiles).toHaveLength(Object.keys(BASE).length + 1);
    });

    it('answers COMMIT_NOT_FOUND for an id that nobody has', async () => {
      expect(await fetchOutcome('e'.repeat(40) as CommitSha)).toMatchObject({
        kind: 'unavailable',
        reason: 'COMMIT_NOT_FOUND',
      });
    });

    it.each([
      ['absolute link', 'UNSAFE_PATH', 'l'],
      ['link out', 'UNSAFE_PATH', 'a/l'],
      ['links out together', 'UNSAFE_PATH', 'z'],
      ['links in a circle', 'UNSAFE_PATH', 'p'],
      ['case twin', 'UNSAFE_PATH', 'protected'],
      ['control character', 'UNSAFE_PATH', 'a\nprotected'],
      ['new submodule', 'SUBMODULE_CHANGED', 'lib'],
      ['moved submodule', 'SUBMODULE_CHANGED', 'sub'],
      ['submodule gone', 'SUBMODULE_CHANGED', 'sub'],
      ['lfs pointer', 'LFS_POINTER', 'model.bin'],
    ] as const)('submits %s: the tree has the fault %s', async (commit, reason, path) => {
      const { treeFaults, archive } = await fetched(commit);
      expect(treeFaults).toContainEqual({ reason, path, message: expect.any(String) });
      expect(archive).toThrow(TypeError);
    });

    it('blames no solver for the twins, pointers, odd names and submodules of the base', async () => {
      for (const commit of [
        'fix',
        'renamed',
        'good links',
        'pointer made executable',
        'unicode and quotes',
      ] as const) {
        expect((await fetched(commit)).treeFaults).toEqual([]);
      }
      const beside = await fetched('fix beside odd folders', 'odd folders in base');
      expect(beside.treeFaults).toEqual([]);
    });

    it('has a base that no workspace can hold: the contract is broken, not the solver', async () => {
      expect(await fetchOutcome('fix of a long name', 'base of a long name')).toEqual({
        kind: 'unavailable',
        reason: 'SETUP_FAILED_AT_BASE',
        message: expect.stringContaining('255 bytes'),
      });
      const id = harness.id('base of a long name');
      const base = await harness.intake.openBase(harness.url, id, signal);
      expect(base.layoutProblem).toContain('255 bytes');
      await base.close();
    });

    it('D10 D11 BUG-51 writes the raw bytes of every file, whatever .gitattributes asks for', async () => {
      const source = await fetched('fix');
      expect(await unpack(source.archive())).toEqual({
        '.gitattributes': ['644', BASE['.gitattributes']],
        'Old/A.txt': ['644', BASE['Old/A.txt']],
        'a.txt': ['644', 'one\n2\n'],
        'art.psd': ['644', LFS_POINTER],
        'odd\\name': ['644', BASE['odd\\name']],
        'old/a.txt': ['644', BASE['old/a.txt']],
        'protected/verify.sh': ['755', '#!/bin/sh\n'],
        secret: ['644', 'kept\n'],
        'src/new.ts': ['644', 'export {};\n'],
        sub: ['755', 'folder'],
      });
      expect((await unpack(source.baseArchive()))['a.txt']).toEqual(['644', 'one\ntwo\n']);
    });

    it('writes links as links and names the archives by their trees', async () => {
      const source = await fetched('good links');
      expect(await unpack(source.archive())).toMatchObject({
        'deep/up': ['777', '-> ../a.txt'],
        'deep/nowhere': ['777', '-> ../not-there-yet/x'],
      });
      expect(source.archive().digest).toBe(source.tree);
      expect(source.baseArchive()).toMatchObject({
        digest: source.baseTree,
        entryCount: Object.keys(BASE).length,
      });
    });

    it('opens an archive twice at once with equal bytes', async () => {
      const archive = (await fetched('fix')).archive();
      const [one, two] = await Promise.all([unpack(archive), unpack(archive)]);
      expect(one).toEqual(two);
      expect(archive.bytesTotal).toBeGreaterThan(100);
    });

    it('makes the tree of the commit, or of the base, of no edits', async () => {
      const source = await fetched('fix');
      const same = source.derive('commit', []);
      const { tree, changedFiles, treeFaults, message } = source;
      expect(same).toMatchObject({ tree, changedFiles, treeFaults, message, isDescendant: true });
      expect(await unpack(same.archive())).toEqual(await unpack(source.archive()));
      expect(same.archive().digest).toBe(tree);
      const base = source.derive('base', []);
      expect(base).toMatchObject({ tree: source.baseTree, changedFiles: [], treeFaults: [] });
      expect(await unpack(base.archive())).toEqual(await unpack(source.baseArchive()));
    });

    it('reverts a path to what the base has there: content, mode, kind, or nothing', async () => {
      expect((await revert('fix', 'a.txt')).changedFiles).toEqual([
        { path: 'src/new.ts', status: 'added', baseMode: '000000', mode: '100644' },
      ]);
      const withoutNew = await revert('fix', 'src/new.ts');
      expect(await unpack(withoutNew.archive())).not.toHaveProperty(['src/new.ts']);
      for (const [commit, path] of [
        ['mode only', 'a.txt'],
        ['file becomes link', 'a.txt'],
        ['link instead of folder', 'protected/verify.sh'],
      ] as const) {
        expect(await revert(commit, path)).toMatchObject({
          tree: (await fetched('base')).tree,
          changedFiles: [],
        });
      }
    });

    it('deletes and writes paths of a derived tree, which has an id of its own', async () => {
      const source = await fetched('fix');
      const derived = source.derive('commit', [
        { kind: 'delete', path: 'secret' },
        { kind: 'write', path: 'protected/verify.sh', content: Buffer.from('exit 0\n') },
        { kind: 'write', path: 'src/new.ts/deep', content: Buffer.from('below a file\n') },
        { kind: 'write', path: 'old', content: Buffer.from('was a folder\n') },
      ]);
      const fix = await unpack(source.archive());
      const { secret: _secret, 'src/new.ts': _new, 'old/a.txt': _old, ...kept } = fix;
      expect(await unpack(derived.archive())).toEqual({
        ...kept,
        'protected/verify.sh': ['755', 'exit 0\n'],
        'src/new.ts/deep': ['644', 'below a file\n'],
        old: ['644', 'was a folder\n'],
      });
      expect(derived.changedFiles.map(({ path, status }) => [status, path])).toEqual([
        ['modified', 'a.txt'],
        ['added', 'old'],
        ['deleted', 'old/a.txt'],
        ['modified', 'protected/verify.sh'],
        ['deleted', 'secret'],
        ['added', 'src/new.ts/deep'],
      ]);
      expect(derived.archive().digest).toMatch(/^[0-9a-f]{64}$/);
      expect(derived.tree).not.toBe(source.derive('commit', []).tree);
    });

    it('writes into the base what the commit adds, and it can be run as the commit’s can', async () => {
      const source = await fetched('adds a program');
      const content = Buffer.from('exit 1\n');
      const derived = source.derive('base', [{ kind: 'write', path: 'run', content }]);
      expect(await unpack(derived.archive())).toMatchObject({ run: ['755', 'exit 1\n'] });
    });

    it('writes what stands there already: no change', async () => {
      const source = await fetched('base');
      const content = Buffer.from('one\ntwo\n');
      const same = source.derive('base', [{ kind: 'write', path: 'a.txt', content }]);
      expect(same).toMatchObject({ tree: source.tree, changedFiles: [] });
    });

    it('judges a derived tree by the rules for commits', async () => {
      const source = await fetched('fix');
      const faultOf = (...edits: Parameters<FetchedCommit['derive']>[1]) =>
        source.derive('commit', edits).treeFaults.map(({ reason, path }) => [reason, path]);
      expect(faultOf({ kind: 'delete', path: 'sub' })).toEqual([['SUBMODULE_CHANGED', 'sub']]);
      const content = Buffer.from(LFS_POINTER);
      expect(faultOf({ kind: 'write', path: 'x.bin', content })).toEqual([
        ['LFS_POINTER', 'x.bin'],
      ]);
      expect(faultOf({ kind: 'write', path: 'Secret', content: Buffer.from('x') })).toEqual([
        ['UNSAFE_PATH', 'secret'],
      ]);
      const faulty = source.derive('commit', [{ kind: 'delete', path: 'sub' }]);
      expect(faulty.archive).toThrow(TypeError);
    });

    it('keeps good links in a derived tree', async () => {
      const source = await fetched('good links');
      const edit = { kind: 'delete', path: 'deep/nowhere' } as const;
      const derived = source.derive('commit', [edit]);
      expect(derived.treeFaults).toEqual([]);
      expect(await unpack(derived.archive())).toMatchObject({ 'deep/up': ['777', '-> ../a.txt'] });
    });

    it('derives nothing from a tree with faults or beside the base', async () => {
      const [faulty, beside] = [await fetched('link out'), await fetched('elsewhere')];
      expect(() => faulty.derive('commit', [])).toThrow(TypeError);
      expect(() => beside.derive('commit', [])).toThrow(TypeError);
      expect(beside.files).toThrow(TypeError);
    });

    it('reads single files of commit, base and derived tree, within a bound', async () => {
      const source = await fetched('fix');
      const derived = source.derive('base', [
        { kind: 'write', path: 'a.txt', content: Buffer.from('three\n') },
      ]);
      expect(source.files().paths).toEqual([...Object.keys(BASE), 'src/new.ts'].toSorted());
      expect(source.baseFiles().paths).toEqual(Object.keys(BASE));
      expect(await textOf(source.files(), 'a.txt')).toBe('one\n2\n');
      expect(await textOf(source.baseFiles(), 'a.txt')).toBe('one\ntwo\n');
      expect(await textOf(derived.files(), 'a.txt')).toBe('three\n');
      expect(await textOf(derived.files(), 'secret')).toBe('kept\n');
      expect(await textOf(derived.files(), 'a.txt', 5)).toBeNull();
      expect(await textOf(source.files(), 'a.txt', 5)).toBeNull();
      expect(await textOf(source.files(), 'sub')).toBeNull();
      expect(await textOf(source.files(), 'nowhere')).toBeNull();
    });

    it('opens the base for approval', async () => {
      const base = await harness.intake.openBase(harness.url, harness.id('base'), signal);
      expect(base.paths).toEqual(Object.keys(BASE));
      expect(Buffer.from((await base.readFile('a.txt', 100)) ?? []).toString()).toBe('one\ntwo\n');
      expect(await base.readFile('a.txt', 3)).toBeNull();
      expect(await base.readFile('nowhere', 100)).toBeNull();
      expect(base.layoutProblem).toBeNull();
      expect(await base.lfsPointers()).toEqual(['art.psd']);
      await base.close();
      await base.close();
    });

    it('says so when there is no such base', async () => {
      const unknown = 'e'.repeat(40) as CommitSha;
      await expect(harness.intake.openBase(harness.url, unknown, signal)).rejects.toMatchObject({
        code: 'INTAKE_BASE_UNAVAILABLE',
      });
    });

    it('ends with the reason of an aborted signal', async () => {
      const reason = new Error('the user gave up');
      const request = {
        baseRepositoryUrl: harness.url,
        repositoryUrl: harness.url,
        baseCommit: harness.id('base'),
        commit: harness.id('fix'),
      };
      const aborted = AbortSignal.abort(reason);
      await expect(harness.intake.fetchCommit(request, aborted)).rejects.toBe(reason);
    });
  });
}

async function textOf(files: TreeFiles, path: string, bytesMax = 100): Promise<string | null> {
  const bytes = await files.readFile(path, bytesMax);
  return bytes === null ? null : Buffer.from(bytes).toString();
}

/** Path → permission bits, and content, link target or `folder`. */
export async function unpack(archive: TreeArchive): Promise<Record<string, [string, string]>> {
  const found: Record<string, [string, string]> = {};
  const parser = new Parser({
    strict: true,
    onReadEntry: (entry) => {
      const pieces: Buffer[] = [];
      entry.on('data', (piece: Buffer) => pieces.push(piece));
      entry.on('end', () => {
        const content = Buffer.concat(pieces).toString();
        const text = { SymbolicLink: `-> ${entry.linkpath ?? ''}`, Directory: 'folder' }[
          String(entry.type)
        ];
        found[entry.path] = [(entry.mode ?? 0).toString(8), text ?? content];
      });
    },
  });
  for await (const piece of archive.open(new AbortController().signal)) {
    parser.write(Buffer.from(piece));
  }
  parser.end();
  return found;
}

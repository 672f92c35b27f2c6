import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { openAttackBench, type AttackBench, type AttackEnd } from './attack-bench.ts';

const SIX = Array.from({ length: 6 }, (_, index) => `lib/${index}.sh`);
const BASE = {
  'check.sh': 'sh hello.sh\n',
  'hello.sh': 'exit 1\n',
  'protected/verify.sh': 'exit 0\n',
  'protected/é.txt': 'accented\n',
  'tests/spec.ts': 'expect(1).toBe(2);\n',
  'tests/tab\tand "quotes"\nand a line.ts': 'odd\n',
  'src/verify.sh': 'exit 0 # mine\n',
  'src/z.sh': 'echo z\n',
  ...Object.fromEntries(SIX.map((path) => [path, `echo ${path}\n`])),
};

let bench: AttackBench;
let ids: Awaited<ReturnType<typeof build>>;
beforeAll(async () => {
  bench = await openAttackBench();
  ids = await build();
});
afterEach(() => {
  vi.unstubAllEnvs();
  return bench.assertNothingLeft();
});
afterAll(() => bench.close());

const moved = (change: string) =>
  Object.fromEntries(
    SIX.map((path) => [path.replace('lib', 'far/away'), `echo ${path}\n${change}`]),
  );

function build() {
  const parents = ['base'] as const;
  return bench.build('diff', [
    { name: 'base', files: BASE },
    { name: 'renames-it', parents, rename: { 'protected/verify.sh': 'src/moved.sh' } },
    { name: 'moves-six', parents, delete: SIX, files: moved('') },
    { name: 'edits-and-moves-six', parents, delete: SIX, files: moved('echo more\n') },
    {
      name: 'renames-beside-it',
      parents,
      rename: { 'hello.sh': 'a.sh', 'src/z.sh': 'zz.sh' },
      files: { 'protected/verify.sh': 'exit 0 # edited\n' },
    },
    {
      name: 'hides-a-submodule',
      parents,
      files: {
        '.gitmodules': '[submodule "s"]\n\tpath = s\n\turl = ./s\n\tignore = all\n',
        s: { gitlink: '1'.repeat(40) },
      },
    },
    {
      name: 'makes-it-executable',
      parents,
      files: { 'protected/verify.sh': { content: BASE['protected/verify.sh'], mode: '100755' } },
    },
    {
      name: 'links-its-folder',
      parents,
      delete: ['protected'],
      files: { protected: { symlink: 'src' } },
    },
    { name: 'links-an-empty-place', parents, files: { verifier: { symlink: 'src' } } },
    { name: 'files-an-empty-place', parents, files: { verifier: 'in the way\n' } },
    { name: 'links-above-it', parents, files: { deep: { symlink: 'src' } } },
    { name: 'foreign', files: { 'hello.sh': 'exit 0\n' } },
    { name: 'ours', parents: ['foreign', 'base'] },
    { name: 'upstream', parents, files: moved('') },
    { name: 'merges-upstream', parents: ['upstream', 'base'], files: { 'hello.sh': 'exit 0\n' } },
    { name: 'same-again', parents },
    { name: 'reads-the-host', parents, files: { 'out.json': { symlink: '/etc/hostname' } } },
    { name: 'climbs-out', parents, files: { 'src/out.json': { symlink: '../../etc/hostname' } } },
    { name: 'weak-base', files: { ...BASE, 'tests/spec.ts': 'expect(1).toBe(1);\n' } },
    { name: 'on-weak-base', parents: ['weak-base'], files: { 'hello.sh': 'exit 0\n' } },
    { name: 'renames-a-test', parents, rename: { 'tests/spec.ts': 'src/x.ts' } },
    { name: 'copies-over-a-test', parents, files: { 'tests/spec.ts': BASE['src/z.sh'] } },
    {
      name: 'renames-the-odd-test',
      parents,
      rename: { 'tests/tab\tand "quotes"\nand a line.ts': 'src/y.ts' },
    },
    {
      name: 'renames-to-odd-names',
      parents,
      rename: { 'tests/spec.ts': 'src/tab\t"quote"\nline.ts' },
    },
    { name: 'edits-the-accented', parents, files: { 'protected/é.txt': 'mine\n' } },
  ]);
}

function submit(commit: string, maxChangedFiles = 8): Promise<AttackEnd> {
  return bench.attack('diff', ids.base, {
    commit,
    contract: ({ constraints }) => {
      constraints.protectedPaths = ['check.sh', 'protected/', 'tests/', 'verifier/', 'deep/in/'];
      constraints.allowedLanguages = [];
      constraints.maxChangedFiles = maxChangedFiles;
    },
  });
}

const subjects = ({ reasons }: AttackEnd) => reasons.map(({ subject }) => subject);
const changes = ({ result }: AttackEnd) =>
  result.changedFiles.map(({ path, status }) => `${status} ${path}`);

// Keeps R-POLICY-DIFF.
it('D01 renames a protected file away: FAIL PROTECTED_PATH_CHANGED', async () => {
  const end = await submit(ids['renames-it']);
  expect(end.said).toBe('FAIL PROTECTED_PATH_CHANGED');
  expect(changes(end)).toEqual(['deleted protected/verify.sh', 'added src/moved.sh']);
});

it('D02 D03 moves six files, edited or not: twelve changes, FAIL TOO_MANY_CHANGED_FILES', async () => {
  for (const commit of [ids['moves-six'], ids['edits-and-moves-six']]) {
    const end = await submit(commit, 11);
    expect(end.said).toBe('FAIL TOO_MANY_CHANGED_FILES');
    expect(end.result.changedFiles).toHaveLength(12);
  }
});

it('D04 renames beside an edit, to shift the records: FAIL PROTECTED_PATH_CHANGED of that very path', async () => {
  const end = await submit(ids['renames-beside-it']);
  expect(end.said).toBe('FAIL PROTECTED_PATH_CHANGED');
  expect(subjects(end)).toEqual(['protected/verify.sh']);
  expect(changes(end)).toEqual([
    'added a.sh',
    'deleted hello.sh',
    'modified protected/verify.sh',
    'deleted src/z.sh',
    'added zz.sh',
  ]);
});

it('D05 D12 meets settings of the host that hide changes and run drivers: FAIL as without them', async () => {
  const canary = join(bench.served, 'canary');
  const settings = join(bench.served, 'gitconfig');
  const driver = `touch ${canary}; cat`;
  await writeFile(
    settings,
    `[diff]\n\trelative = true\n\trenames = copies\n\tignoreSubmodules = all\n\texternal = "${driver}"\n` +
      `[core]\n\tattributesFile = ${join(bench.served, 'attributes')}\n[diff "evil"]\n\ttextconv = "${driver}"\n`,
  );
  await writeFile(join(bench.served, 'attributes'), '* diff=evil\n');
  vi.stubEnv('GIT_CONFIG_GLOBAL', settings);
  vi.stubEnv('GIT_EXTERNAL_DIFF', driver);
  vi.stubEnv('GIT_DIFF_OPTS', '--find-copies');
  expect((await submit(ids['renames-it'])).said).toBe('FAIL PROTECTED_PATH_CHANGED');
  expect((await submit(ids['hides-a-submodule'])).said).toBe('FAIL SUBMODULE_CHANGED');
  await expect(writeFile(canary, '', { flag: 'wx' })).resolves.toBeUndefined();
});

it('D06 adds a submodule that its own .gitmodules hides: FAIL SUBMODULE_CHANGED', async () => {
  const end = await submit(ids['hides-a-submodule']);
  expect(end.said).toBe('FAIL SUBMODULE_CHANGED');
  expect(changes(end)).toEqual(['added .gitmodules', 'added s']);
});

it('D07 makes a protected file executable and nothing else: FAIL PROTECTED_PATH_CHANGED', async () => {
  const end = await submit(ids['makes-it-executable']);
  expect(end.said).toBe('FAIL PROTECTED_PATH_CHANGED');
  expect(changes(end)).toEqual(['modified protected/verify.sh']);
});

it('D08 puts a link in the place of a protected folder: FAIL PROTECTED_PATH_CHANGED, of link and files', async () => {
  const end = await submit(ids['links-its-folder']);
  expect(end.said).toBe(`FAIL${' PROTECTED_PATH_CHANGED'.repeat(3)}`);
  expect(subjects(end)).toEqual(['protected', 'protected/verify.sh', 'protected/é.txt']);
});

it('D09 puts a link or a file where a protected folder may come to be: FAIL PROTECTED_PATH_CHANGED', async () => {
  for (const commit of [
    ids['links-an-empty-place'],
    ids['files-an-empty-place'],
    ids['links-above-it'],
  ]) {
    expect((await submit(commit)).said).toBe('FAIL PROTECTED_PATH_CHANGED');
  }
});

it('D13 edits a protected file whose name git would quote: FAIL PROTECTED_PATH_CHANGED', async () => {
  const end = await submit(ids['edits-the-accented']);
  expect(end.said).toBe('FAIL PROTECTED_PATH_CHANGED');
  expect(subjects(end)).toEqual(['protected/é.txt']);
});

it('D26 merges the base for the ancestry and keeps a foreign tree: FAIL, every missing file is a change', async () => {
  const end = await submit(ids.ours);
  const gone = ['check.sh', 'protected/verify.sh', 'protected/é.txt', ...tests()];
  expect(end.said).toBe(
    `FAIL${' PROTECTED_PATH_CHANGED'.repeat(gone.length)} TOO_MANY_CHANGED_FILES`,
  );
  expect(subjects(end)).toEqual([...gone, null]);
});

const tests = () => Object.keys(BASE).filter((path) => path.startsWith('tests/'));

it('D29 has a history of its own: FAIL NOT_A_DESCENDANT, and nothing of a comparison', async () => {
  const end = await submit(ids.foreign);
  expect(end.said).toBe('FAIL NOT_A_DESCENDANT');
  expect(changes(end)).toEqual([]);
});

it('D30 merges a newer upstream: its files count as the solver’s, FAIL TOO_MANY_CHANGED_FILES', async () => {
  const end = await submit(ids['merges-upstream'], 6);
  expect(end.said).toBe('FAIL TOO_MANY_CHANGED_FILES');
  expect(end.result.changedFiles).toHaveLength(7);
});

it('D31 submits the base, or its tree once more: FAIL EMPTY_DIFF', async () => {
  for (const commit of [ids.base, ids['same-again']]) {
    expect((await submit(commit)).said).toBe('FAIL EMPTY_DIFF');
  }
});

it('D33 adds links to files of the host: FAIL UNSAFE_PATH', async () => {
  for (const commit of [ids['reads-the-host'], ids['climbs-out']]) {
    expect((await submit(commit)).said).toBe('FAIL UNSAFE_PATH');
  }
});

it('BUG-7 brings a base of its own with weakened tests: FAIL NOT_A_DESCENDANT', async () => {
  const files = { ...BASE, 'tests/spec.ts': 'expect(1).toBe(1);\n' };
  const own = await bench.build('own-base', [
    { name: 'base', files },
    { name: 'fix', parents: ['base'], files: { 'hello.sh': 'exit 0\n' } },
  ]);
  const fork = await bench.attack('diff', ids.base, { repository: 'own-base', commit: own.fix });
  expect(fork.said).toBe('FAIL NOT_A_DESCENDANT');
  expect((await submit(ids['on-weak-base'])).said).toBe('FAIL NOT_A_DESCENDANT');
});

it('BUG-47 renames a test away, copies over it, by plain and odd names: FAIL PROTECTED_PATH_CHANGED', async () => {
  for (const commit of [
    ids['renames-a-test'],
    ids['copies-over-a-test'],
    ids['renames-the-odd-test'],
  ]) {
    expect((await submit(commit)).said).toBe('FAIL PROTECTED_PATH_CHANGED');
  }
  const odd = await submit(ids['renames-to-odd-names']);
  expect(odd.said).toBe('FAIL UNSAFE_PATH PROTECTED_PATH_CHANGED');
  expect(subjects(odd)).toEqual(['src/tab\t"quote"\nline.ts', 'tests/spec.ts']);
  expect(odd.reasons[0]?.message).not.toMatch(/[\n\t]/);
});

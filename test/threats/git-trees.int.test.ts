import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { lintContract } from '@kervyxa/contract';
import { helloContract } from '@kervyxa/contract/testing';
import { CommitShaSchema } from '@kervyxa/core';
import { rawCommit, rawTree, writeBranch, writeObject, type GitServer } from '@kervyxa/testing';
import { loadBaseFacts } from '@kervyxa/verifier';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { openAttackBench, type Attack, type AttackBench } from './attack-bench.ts';

const POINTER = `version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize 12345\n`;
const DATA = 'one\r\ntwo\n$Id$ $Format:%H$\n';
const FILES = {
  'check.sh': 'sh hello.sh\n',
  'hello.sh': 'exit 1\n',
  'data.txt': DATA,
};
let bench: AttackBench;
let canary: GitServer;
let ids: Awaited<ReturnType<typeof build>>;
let folder: string;
beforeAll(async () => {
  bench = await openAttackBench();
  canary = await bench.startServer({});
  ids = await build();
  folder = join(bench.served, 'trees.git');
});
afterEach(() => bench.assertNothingLeft());
afterAll(() => bench.close());

function build() {
  const parents = ['base'] as const;
  const fixed = { 'hello.sh': 'exit 0\n' };
  const modules = (url: string, path = 'sub') =>
    `[submodule "${path}"]\n\tpath = ${path}\n\turl = ${url}\n\tupdate = !touch ${path}\n\tignore = all\n`;
  const sub = { gitlink: '1'.repeat(40) };
  return bench.build('trees', [
    { name: 'base', files: FILES },
    {
      name: 'attributes',
      parents,
      files: {
        ...fixed,
        '.gitattributes':
          '* text eol=crlf ident working-tree-encoding=UTF-16 export-ignore export-subst filter=evil diff=evil\n',
      },
    },
    {
      name: 'attributes-beside',
      parents,
      files: { ...fixed, 'a.sh': 'exit 0\n', '.gitattributes': '* -diff export-ignore\n' },
    },
    {
      name: 'lfs-address',
      parents,
      files: {
        ...fixed,
        '.gitattributes': '*.txt filter=lfs diff=lfs merge=lfs -text\n',
        '.lfsconfig': `[lfs]\n\turl = ${canary.url('lfs')}\n`,
      },
    },
    { name: 'lfs-pointer', parents, files: { ...fixed, 'data.txt': POINTER } },
    {
      name: 'module-elsewhere',
      parents,
      files: { '.gitmodules': modules(canary.url('s.git')), sub },
    },
    { name: 'module-of-host', parents, files: { '.gitmodules': modules('file:///etc'), sub } },
    { name: 'module-option', parents, files: { '.gitmodules': modules('-u./x', '../x\r'), sub } },
    {
      name: 'bare',
      parents,
      files: {
        'hello.sh': 'cd fixtures; git status; test -f HEAD\n',
        'fixtures/HEAD': 'ref: refs/heads/main\n',
        'fixtures/config': `[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n\tfsmonitor = "touch ${join(bench.served, 'canary')}; false"\n`,
        'fixtures/objects/x': '',
        'fixtures/refs/x': '',
      },
    },
    {
      name: 'looks-for-git',
      parents,
      files: {
        'hello.sh':
          'find / -name ".git*" -not -path "/proc/*" -not -path "/usr/*" 2>/dev/null; git log --all 2>&1; git remote -v 2>&1; env; test ! -e .git\n',
      },
    },
    { name: 'pointer-in-base', files: { ...FILES, 'model.bin': POINTER } },
    { name: 'fix-on-pointer', parents: ['pointer-in-base'], files: fixed },
  ]);
}

const anyFile: Attack['contract'] = (contract) => {
  contract.constraints.maxChangedFiles = 20;
  contract.constraints.editablePaths = ['**'];
};
const submit = (commit: string, more: Partial<Attack> = {}) =>
  bench.attack('trees', ids.base, { commit, contract: anyFile, ...more });

/** What the command prints in the end is the SHA-256 of the file. */
const printsDigest: Attack['contract'] = (contract) => {
  anyFile(contract);
  const [criterion] = contract.criteria;
  if (criterion !== undefined && 'command' in criterion) {
    criterion.command = 'sha256sum data.txt; ls -A; sh check.sh';
  }
};

it('BUG-51 G31 asks for line endings, encodings, filters and exports: PASS on the bytes of the blobs', async () => {
  const { said, output, result } = await submit(ids.attributes, { contract: printsDigest });
  expect(said).toBe('PASS');
  expect(output.get('criterion:says-hello')).toContain(
    createHash('sha256').update(DATA).digest('hex'),
  );
  expect(result.changedFiles.map(({ path }) => path)).toEqual(['.gitattributes', 'hello.sh']);
});

it('BUG-51 changes .gitattributes as a file too many: FAIL TOO_MANY_CHANGED_FILES', async () => {
  const { said } = await bench.attack('trees', ids.base, { commit: ids['attributes-beside'] });
  expect(said).toContain('FAIL TOO_MANY_CHANGED_FILES');
});

it('G31 names an LFS server of its own: PASS, and nobody goes there', async () => {
  const { said, output } = await submit(ids['lfs-address'], { contract: printsDigest });
  expect(said).toBe('PASS');
  expect(output.get('criterion:says-hello')).toContain(
    createHash('sha256').update(DATA).digest('hex'),
  );
  expect(canary.requests).toEqual([]);
});

it('G31 BUG-49 puts an LFS pointer in the place of a file: FAIL LFS_POINTER', async () => {
  expect((await submit(ids['lfs-pointer'])).said).toBe('FAIL LFS_POINTER');
});

it('BUG-49 has an LFS pointer in the base: approval finds CONTRACT_BROKEN, and a run leaves the pointer as it is', async () => {
  const { signal } = new AbortController();
  const baseCommit = CommitShaSchema.parse(ids['pointer-in-base']);
  const base = await bench.deps.intake.openBase(bench.server.url('trees.git'), baseCommit, signal);
  const contract = helloContract(baseCommit);
  const findings = lintContract(contract, await loadBaseFacts(base, contract));
  await base.close();
  expect(findings.find(({ code }) => code === 'CONTRACT_BROKEN')?.message).toContain('model.bin');
  const printsPointer: Attack['contract'] = (input) => {
    const [criterion] = input.criteria;
    if (criterion !== undefined && 'command' in criterion) {
      criterion.command = 'cat model.bin; sh check.sh';
    }
  };
  const { said, output } = await bench.attack('trees', baseCommit, {
    commit: ids['fix-on-pointer'],
    contract: printsPointer,
  });
  expect(said).toBe('PASS');
  expect(output.get('criterion:says-hello')).toBe(POINTER);
});

it.each(['module-elsewhere', 'module-of-host', 'module-option'] as const)(
  'G30 BUG-50 adds a submodule, %s, that git is told to ignore: FAIL SUBMODULE_CHANGED, nobody goes there',
  async (name) => {
    const { said } = await submit(ids[name]);
    expect(said).toBe('FAIL SUBMODULE_CHANGED');
    expect(canary.requests).toEqual([]);
  },
);

it('G29 holds a repository whose settings run a command: PASS, as data, and nothing runs on the host', async () => {
  const { said } = await submit(ids.bare);
  expect(said).toBe('PASS');
  expect(existsSync(join(bench.served, 'canary'))).toBe(false);
});

it('G35 G37 looks for .git, remotes and refs in the container: there is none, and git says so', async () => {
  const { said, output } = await submit(ids['looks-for-git']);
  const printed = output.get('criterion:says-hello') ?? '';
  expect(said).toBe('PASS');
  expect(printed).not.toContain('127.0.0.1');
  expect(printed).not.toContain(ids.bare);
  expect(printed).not.toMatch(/\/\.git$/m);
  expect(printed).toMatch(/not a git repository|git: not found/);
});

const file = (name: string, id: string, mode = '100644') => ({ mode, name, id });

const NAMES = ['.git', '.GIT', '.Git', 'git~1', 'GIT~1', '.g\u200cit', '.git.', '.git '];

it.each([...NAMES, '.git::$INDEX_ALLOCATION', '..', '.', '.git\\hooks', 'a\r', 'a\n', ' \u007f'])(
  'G33 BUG-50 names a folder %j: FAIL UNSAFE_PATH',
  async (name) => {
    const blob = await writeObject(folder, 'blob', 'exit 0\n');
    const inner = await writeObject(
      folder,
      'tree',
      rawTree([file('post-checkout', blob, '100755')]),
    );
    const tree = await writeObject(
      folder,
      'tree',
      rawTree(
        [
          file(name, inner, '40000'),
          file('check.sh', await writeObject(folder, 'blob', FILES['check.sh'])),
          file('hello.sh', blob),
        ].toSorted((one, other) => Buffer.from(one.name).compare(Buffer.from(other.name))),
      ),
    );
    const commit = await writeObject(folder, 'commit', rawCommit(tree, [ids.base]));
    await writeBranch(folder, commit.slice(0, 12), commit);
    const { said } = await submit(commit);
    expect(said).toMatch(/^FAIL UNSAFE_PATH( UNSAFE_PATH)*$/);
  },
);

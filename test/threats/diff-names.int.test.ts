import { join } from 'node:path';
import { rawCommit, rawTree, writeBranch, writeObject, type RawTreeEntry } from '@kervyxa/testing';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { openAttackBench, type AttackBench, type AttackEnd } from './attack-bench.ts';

const BASE = { 'check.sh': 'sh hello.sh\n', 'hello.sh': 'exit 0\n' };
const PROTECTED = ['check.sh', 'protected/**', 'verifier/', 'tests/check*', '**/.npmrc'];

let bench: AttackBench;
let repository: string;
let ids: Awaited<ReturnType<typeof build>>;
let blob: string;
let names = 0;
beforeAll(async () => {
  bench = await openAttackBench();
  ids = await build();
  repository = join(bench.served, 'names.git');
  blob = await writeObject(repository, 'blob', 'exit 0\n');
});
afterEach(() => bench.assertNothingLeft());
afterAll(() => bench.close());

const build = () =>
  bench.build('names', [
    { name: 'base', files: { ...BASE, 'protected/verify.sh': 'exit 0\n', 'protected/é': 'x' } },
  ]);

/** A commit on the base that adds files and changes nothing; the names as they are, git's own checks aside. */
async function adding(...added: readonly (string | Uint8Array)[]): Promise<string> {
  const entries = added.map((name): RawTreeEntry => ({ mode: '100644', name, id: blob }));
  return commitOf(await treeOf(entries));
}

async function treeOf(added: readonly RawTreeEntry[]): Promise<string> {
  const of = async (text: string): Promise<string> => writeObject(repository, 'blob', text);
  const inner = await writeObject(
    repository,
    'tree',
    rawTree([
      { mode: '100644', name: 'verify.sh', id: blob },
      { mode: '100644', name: 'é', id: await of('x') },
    ]),
  );
  const root: RawTreeEntry[] = [
    { mode: '100644', name: 'check.sh', id: await of(BASE['check.sh']) },
    { mode: '100644', name: 'hello.sh', id: await of(BASE['hello.sh']) },
    { mode: '40000', name: 'protected', id: inner },
    ...added,
  ];
  return writeObject(repository, 'tree', rawTree(root.toSorted(inOrder)));
}

function inOrder(a: RawTreeEntry, b: RawTreeEntry): number {
  const key = ({ mode, name }: RawTreeEntry) =>
    Buffer.concat([Buffer.from(name), Buffer.from(mode === '40000' ? '/' : '')]);
  return key(a).compare(key(b));
}

async function commitOf(tree: string): Promise<string> {
  const commit = await writeObject(repository, 'commit', rawCommit(tree, [ids.base]));
  await writeBranch(repository, `b${(names += 1)}`, commit);
  return commit;
}

/** A folder of one file, for a root tree. */
async function folder(name: string, file: string | Uint8Array): Promise<RawTreeEntry> {
  const id = await writeObject(
    repository,
    'tree',
    rawTree([{ mode: '100644', name: file, id: blob }]),
  );
  return { mode: '40000', name, id };
}

function submit(commit: string, maxChangedFiles = 50): Promise<AttackEnd> {
  return bench.attack('names', ids.base, {
    commit,
    contract: ({ constraints }) => {
      constraints.protectedPaths = PROTECTED;
      constraints.allowedLanguages = [];
      constraints.maxChangedFiles = maxChangedFiles;
    },
  });
}

/** Nothing that a terminal obeys or that hides a name is in what is shown of it. */
function expectShowable({ reasons }: AttackEnd): void {
  for (const { message } of reasons) {
    expect(message).toMatch(
      /^[^\p{Cc}\p{Zl}\p{Zp}\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]+$/u,
    );
  }
}

// Keeps R-POLICY-DIFF.
it('D14 splits a name by a newline, or forges a line by tab, ESC and CSI: FAIL UNSAFE_PATH, shown as escapes', async () => {
  const odd = [
    'a\nprotected',
    'a\tb',
    'a\u001b[2J',
    'a\u009b2J',
    'a\u2028b',
    'a\u202egpj.sh',
    'a\u007f',
  ];
  const end = await submit(await adding(...odd));
  expect(end.said).toBe(`FAIL${' UNSAFE_PATH'.repeat(odd.length)}`);
  expect(new Set(end.reasons.map(({ subject }) => subject))).toEqual(new Set(odd));
  expectShowable(end);
});

it('D16 adds dot files below protected folders and by protected names: FAIL PROTECTED_PATH_CHANGED', async () => {
  const hidden = await folder('.hidden', 'x');
  const inner = await writeObject(
    repository,
    'tree',
    rawTree([hidden, { mode: '100644', name: 'verify.sh', id: blob }]),
  );
  const end = await submit(
    await commitOf(
      await treeOf([
        await folder('verifier', '.env'),
        await folder('.deep', '.npmrc'),
        { mode: '100644', name: '.npmrc', id: blob },
      ]),
    ),
  );
  expect(end.said).toBe(`FAIL${' PROTECTED_PATH_CHANGED'.repeat(3)}`);
  const root = rawTree([
    {
      mode: '100644',
      name: 'check.sh',
      id: await writeObject(repository, 'blob', BASE['check.sh']),
    },
    { mode: '40000', name: 'protected', id: inner },
  ]);
  const below = await submit(await commitOf(await writeObject(repository, 'tree', root)));
  expect(below.reasons.map(({ subject }) => subject)).toContain('protected/.hidden/x');
});

it('D19 D16 spells protected names another way: FAIL UNSAFE_PATH where both stand, and PROTECTED_PATH_CHANGED', async () => {
  const twins = await submit(
    await commitOf(await treeOf([await folder('Protected', 'verify.sh')])),
  );
  expect(twins.said).toBe('FAIL UNSAFE_PATH UNSAFE_PATH PROTECTED_PATH_CHANGED');
  for (const name of ['VERIFIER', 'Verifier', 'veri\u200dfier', 'ver\u0131fier']) {
    const end = await submit(await commitOf(await treeOf([await folder(name, 'x')])));
    expect(end.said).toBe('FAIL PROTECTED_PATH_CHANGED');
    expectShowable(end);
  }
});

it('D19 puts an accent behind what a pattern spells, as a shell reads it: FAIL PROTECTED_PATH_CHANGED', async () => {
  const commit = await commitOf(await treeOf([await folder('tests', 'check\u0301.sh')]));
  expect((await submit(commit)).said).toBe('FAIL PROTECTED_PATH_CHANGED');
});

it('D19 brings twins, of case, accents, sharp s, sigma, ligatures, joiners: FAIL UNSAFE_PATH of each', async () => {
  const twins = [
    ['a.md', 'A.md'],
    ['é.md', 'e\u0301.md'],
    ['straße', 'STRASSE'],
    ['ma\u1e9ee', 'masse'],
    ['οδος', 'οδοσ'],
    ['ﬁle', 'file'],
    ['k', '\u212a'],
    ['ａ', 'Ａ'],
    ['ab', 'a\u200db'],
    ['cd', 'c\u200ed'],
    ['s', '\u017f'],
  ];
  const end = await submit(await adding(...twins.flat()));
  expect(end.said).toBe(`FAIL${' UNSAFE_PATH'.repeat(twins.length)}`);
  expectShowable(end);
});

it('D21 BUG-47 brings names that are not UTF-8, as many as one replacement text: FAIL UNSAFE_PATH of each', async () => {
  const end = await submit(await adding(Buffer.from([0xff, 0xfe]), Buffer.from([0xff, 0xfd])));
  expect(end.said).toContain('FAIL UNSAFE_PATH UNSAFE_PATH');
  expect(new Set(end.reasons.map(({ code }) => code))).toEqual(new Set(['UNSAFE_PATH']));
  const below = await folder('protected', Buffer.from([0x76, 0xff]));
  const moved = await submit(await commitOf(await rootOf(below)));
  expect(moved.reasons.map(({ code }) => code)).toContain('PROTECTED_PATH_CHANGED');
  expect(moved.reasons[0]?.code).toBe('UNSAFE_PATH');
});

async function rootOf(...entries: RawTreeEntry[]): Promise<string> {
  const check = await writeObject(repository, 'blob', BASE['check.sh']);
  const all = [{ mode: '100644', name: 'check.sh', id: check }, ...entries];
  return writeObject(repository, 'tree', rawTree(all));
}

it('D23 has one name twice, or names out of order: FAIL UNSAFE_PATH', async () => {
  const twice = await rootOf(
    await folder('protected', 'verify.sh'),
    await folder('protected', 'mine.sh'),
  );
  const unsorted = await rootOf({ mode: '100644', name: 'a.md', id: blob });
  for (const tree of [twice, unsorted]) {
    const end = await submit(await commitOf(tree));
    expect(end.said).toMatch(/^FAIL UNSAFE_PATH /);
  }
});

it('D25 has modes that git puts right in silence: FAIL UNSAFE_PATH', async () => {
  const said = async (mode: string): Promise<string> => {
    const commit = await commitOf(await treeOf([{ mode, name: 'odd.md', id: blob }]));
    return (await submit(commit)).said;
  };
  for (const mode of ['100664', '104755', '0100644', '100600']) {
    expect(await said(mode)).toBe('FAIL UNSAFE_PATH');
  }
  // What is of no kind at all, git takes for a submodule.
  expect(await said('644')).toBe('FAIL UNSAFE_PATH SUBMODULE_CHANGED');
});

it('brings names that other systems refuse, or paths that no kernel takes: FAIL UNSAFE_PATH', async () => {
  const end = await submit(await adding('back\\slash', 'dot.', 'space ', 'x'.repeat(256)));
  expect(end.said).toBe(`FAIL${' UNSAFE_PATH'.repeat(4)}`);
  let inner = await folder('d'.repeat(199), 'f');
  for (let depth = 0; depth < 20; depth += 1) {
    const id = await writeObject(repository, 'tree', rawTree([inner]));
    inner = { mode: '40000', name: 'd'.repeat(199), id };
  }
  const deep = await submit(await commitOf(await treeOf([inner])));
  expect(deep.said).toBe('FAIL UNSAFE_PATH');
  expect(deep.reasons[0]?.message.length).toBeLessThan(500);
});

it('has a base with a name that is not UTF-8: INCONCLUSIVE SETUP_FAILED_AT_BASE, no solver’s fault', async () => {
  const tree = await rootOf({ mode: '100644', name: Buffer.from([0xff]), id: blob });
  const odd = await writeObject(repository, 'commit', rawCommit(tree, []));
  await writeBranch(repository, 'odd-base', odd);
  const next = rawTree([{ mode: '100644', name: Buffer.from([0xff]), id: blob }]);
  const fix = rawCommit(await writeObject(repository, 'tree', next), [odd]);
  const commit = await writeObject(repository, 'commit', fix);
  await writeBranch(repository, 'odd-fix', commit);
  const end = await bench.attack('names', odd, { commit });
  expect(end.said).toBe('INCONCLUSIVE SETUP_FAILED_AT_BASE');
});

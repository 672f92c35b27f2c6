import { execFile } from 'node:child_process';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { rawCommit, rawTree, writeBranch, writeObject } from '@kervyxa/testing';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { openAttackBench, type AttackBench } from './attack-bench.ts';

const HELLO = { 'check.sh': 'sh hello.sh\n', 'hello.sh': 'exit 1\n' };
let bench: AttackBench;
let ids: Awaited<ReturnType<typeof build>>;
let main: string;
beforeAll(async () => {
  bench = await openAttackBench();
  ids = await build();
  main = join(bench.served, 'main.git');
});
afterEach(() => bench.assertNothingLeft());
afterAll(() => bench.close());

function build() {
  return bench.build('main', [
    { name: 'root', files: HELLO },
    { name: 'base', parents: ['root'], files: { 'other.sh': 'exit 0\n' } },
    { name: 'fix', parents: ['base'], files: { 'hello.sh': 'exit 0\n' } },
    { name: 'tip', parents: ['fix'], files: { 'hello.sh': 'exit 3\n' } },
  ]);
}

async function git(...argv: string[]): Promise<string> {
  return (await promisify(execFile)('git', argv)).stdout.trim();
}
const gitIn = (folder: string, ...argv: string[]) => git(`--git-dir=${folder}`, ...argv);

/** A copy of the repository under a name of its own, whose only branch is at the commit. */
async function copyOf(name: string, head?: string): Promise<string> {
  const folder = join(bench.served, `${name}.git`);
  await cp(main, folder, { recursive: true });
  if (head === undefined) return folder;
  await rm(join(folder, 'packed-refs'), { force: true });
  await rm(join(folder, 'refs/heads'), { recursive: true });
  await writeBranch(folder, 'main', head);
  return folder;
}

const submit = (repository: string, commit: string, more: object = {}) =>
  bench.attack('main', ids.base, { repository, commit, ...more });

it('G06 serves plain files, past which git checks nothing: INCONCLUSIVE REPOSITORY_UNREACHABLE', async () => {
  const server = await bench.startServer({ dumb: true });
  const { said, reasons } = await submit(server.url('main.git'), ids.fix);
  expect(said).toBe('INCONCLUSIVE REPOSITORY_UNREACHABLE');
  expect(reasons[0]?.message).toContain('smart HTTP');
  expect(server.requests).toHaveLength(1);
});

it('G10 has a branch that is named like the commit and points elsewhere: PASS of the commit', async () => {
  const folder = await copyOf('trap');
  await writeBranch(folder, ids.fix, ids.tip);
  await writeFile(join(folder, 'HEAD'), `ref: refs/heads/${ids.fix}\n`);
  const tree = await gitIn(main, 'rev-parse', `${ids.fix}^{tree}`);
  for (const options of [{}, { protocolV0: true }]) {
    const server = await bench.startServer(options);
    const { said, result } = await submit(server.url('trap.git'), ids.fix);
    expect({ said, tree: result.tree }).toEqual({ said: 'PASS', tree });
  }
});

it('G11 names an empty repository for a commit that our cache has: INCONCLUSIVE COMMIT_NOT_FOUND', async () => {
  await git('init', '-q', '--bare', join(bench.served, 'empty.git'));
  expect((await submit('main', ids.fix)).said).toBe('PASS');
  for (const commit of [ids.fix, ids.base]) {
    expect((await submit('empty', commit)).said).toBe('INCONCLUSIVE COMMIT_NOT_FOUND');
  }
});

it('G12 BUG-44 gives out tips only: found behind a branch, else INCONCLUSIVE COMMIT_NOT_FOUND', async () => {
  const server = await bench.startServer({ protocolV0: true });
  await copyOf('tips', ids.tip);
  expect((await submit(server.url('tips.git'), ids.fix)).said).toBe('PASS');
  const unknown = await submit(server.url('tips.git'), 'e'.repeat(40));
  expect(unknown.said).toBe('INCONCLUSIVE COMMIT_NOT_FOUND');
  await copyOf('rewound', ids.base);
  const rewound = await submit(server.url('rewound.git'), ids.fix);
  expect(rewound.said).toBe('INCONCLUSIVE COMMIT_NOT_FOUND');
});

it('G12 lists a hundred thousand branches: INCONCLUSIVE COMMIT_NOT_FOUND, and none is a file here', async () => {
  const folder = await copyOf('crowded', ids.base);
  const lines = Array.from({ length: 100_000 }, (_, index) => `${ids.root} refs/heads/b${index}\n`);
  await writeFile(join(folder, 'packed-refs'), `# pack-refs with: sorted\n${lines.join('')}`);
  const server = await bench.startServer({ protocolV0: true });
  const { said } = await submit(server.url('crowded.git'), ids.fix, { intake: {} });
  expect(said).toBe('INCONCLUSIVE COMMIT_NOT_FOUND');
});

it('G13 submits the id of a tag, tree or file: INCONCLUSIVE COMMIT_NOT_FOUND, and nothing is peeled', async () => {
  const folder = await copyOf('tagged');
  const person = 'K <k@example.invalid> 1704067200 +0000';
  const head = `object ${ids.fix}\ntype commit\ntag v1\ntagger ${person}\n\nv1\n`;
  let tag = await writeObject(folder, 'tag', head);
  for (let depth = 0; depth < 200; depth += 1) {
    const outer = `object ${tag}\ntype tag\ntag v${depth}\ntagger ${person}\n\nagain\n`;
    tag = await writeObject(folder, 'tag', outer);
  }
  await mkdir(join(folder, 'refs/tags'), { recursive: true });
  await writeFile(join(folder, 'refs/tags/deep'), `${tag}\n`);
  const tree = await gitIn(main, 'rev-parse', `${ids.fix}^{tree}`);
  const blob = await gitIn(main, 'rev-parse', `${ids.fix}:hello.sh`);
  for (const id of [tag, tree, blob]) {
    expect((await submit('tagged', id)).said).toBe('INCONCLUSIVE COMMIT_NOT_FOUND');
  }
});

it('G14 names the upstream for a commit of a fork: judged as it is, and FAIL CLAIM_MISSING without one’s own claim', async () => {
  const folder = await copyOf('upstream', ids.base);
  const tree = await gitIn(main, 'rev-parse', `${ids.fix}^{tree}`);
  const message = 'Solve it\n\nKervyxa-Claim: token-of-somebody-else\n';
  // No ref reaches it, as with hosts that keep the objects of forks together.
  const commit = await writeObject(folder, 'commit', rawCommit(tree, [ids.base], message));
  expect((await submit('upstream', commit)).said).toBe('PASS');
  const claimed = await submit('upstream', commit, {
    claimToken: 'token-of-mine',
    contract: (contract: { submission: { claim?: string } }) => {
      contract.submission.claim = 'trailer';
    },
  });
  expect(claimed.said).toBe('FAIL CLAIM_MISSING');
});

it('G15 G19 rewrites, collects and takes away its repository: the captured commit is judged again, PASS', async () => {
  const folder = await copyOf('pushed');
  const server = await bench.startServer({});
  const url = server.url('pushed.git');
  const first = await submit(url, ids.fix);
  const asked = server.requests.length;
  await rm(folder, { recursive: true });
  await server.close();
  const again = await submit(url, ids.fix);
  expect([first.said, again.said]).toEqual(['PASS', 'PASS']);
  expect(again.result.tree).toBe(first.result.tree);
  expect(server.requests).toHaveLength(asked);
});

it('G17 serves a shallow history: INCONCLUSIVE ANCESTRY_UNKNOWN, never NOT_A_DESCENDANT', async () => {
  const folder = join(bench.served, 'shallow.git');
  const url = bench.server.url('main.git');
  await git('clone', '-q', '--bare', '--depth=1', '--branch=tip', url, folder);
  for (const options of [{}, { protocolV0: true }]) {
    const server = await bench.startServer(options);
    const { said } = await submit(server.url('shallow.git'), ids.tip);
    expect(said).toBe('INCONCLUSIVE ANCESTRY_UNKNOWN');
  }
});

it.each([
  ['G18 BUG-53 a replace ref', 'refs/replace/ORPHAN', 'TIP\n'],
  ['G18 BUG-53 a graft', 'info/grafts', 'ORPHAN BASE\n'],
])('%s makes an orphan the child of the base: FAIL NOT_A_DESCENDANT', async (what, path, text) => {
  const folder = await copyOf(what.replaceAll(' ', '-'));
  const tree = await gitIn(main, 'rev-parse', `${ids.fix}^{tree}`);
  const orphan = await writeObject(folder, 'commit', rawCommit(tree, []));
  await writeBranch(folder, 'orphan', orphan);
  const file = join(folder, path.replace('ORPHAN', orphan));
  await mkdir(join(file, '..'), { recursive: true });
  const content = text.replace('ORPHAN', orphan).replace('TIP', ids.tip).replace('BASE', ids.base);
  await writeFile(file, content);
  const { said } = await submit(what.replaceAll(' ', '-'), orphan, { intake: {} });
  expect(said).toBe('FAIL NOT_A_DESCENDANT');
});

it('BUG-53 calls the base shallow: INCONCLUSIVE ANCESTRY_UNKNOWN for a true descendant, never FAIL', async () => {
  const folder = await copyOf('cut');
  await writeFile(join(folder, 'shallow'), `${ids.base}\n`);
  const { said } = await submit('cut', ids.fix, { intake: {} });
  expect(said).toBe('INCONCLUSIVE ANCESTRY_UNKNOWN');
});

it('BUG-53 G18 has dates before the epoch, after the end of time, and a parent twice: PASS by the ids alone', async () => {
  const folder = await copyOf('dates');
  const tree = await gitIn(main, 'rev-parse', `${ids.fix}^{tree}`);
  const middle = await gitIn(main, 'rev-parse', `${ids.base}^{tree}`);
  const dated = (text: string, date: string) => text.replaceAll('1704067200 +0000', date);
  let parent = ids.base;
  for (const date of ['99999999999999999999 +0000', '0 +9999', '18446744073709551615 -0000']) {
    const text = dated(rawCommit(middle, [parent, parent]), date);
    parent = await writeObject(folder, 'commit', text);
  }
  const commit = await writeObject(folder, 'commit', dated(rawCommit(tree, [parent]), '1 +0000'));
  await writeBranch(folder, 'odd', commit);
  expect((await submit('dates', commit)).said).toBe('PASS');
});

it('G18 submits what the base was made from: FAIL NOT_A_DESCENDANT', async () => {
  expect((await submit('main', ids.root)).said).toBe('FAIL NOT_A_DESCENDANT');
});

it('G13 names its objects by SHA-256: INCONCLUSIVE COMMIT_NOT_FOUND', async () => {
  const folder = join(bench.served, 'sha256.git');
  await git('init', '-q', '--bare', '--object-format=sha256', folder);
  const { said } = await submit('sha256', ids.fix);
  expect(said).toBe('INCONCLUSIVE COMMIT_NOT_FOUND');
});

it('G38 sends what git refuses, three times: INCONCLUSIVE REPOSITORY_UNREACHABLE each time', async () => {
  const folder = await copyOf('malformed');
  const blob = await writeObject(folder, 'blob', 'x\n');
  const nameless = rawTree([{ mode: '100644', name: '', id: blob }]);
  const tree = await writeObject(folder, 'tree', nameless);
  const commit = await writeObject(folder, 'commit', rawCommit(tree, [ids.base]));
  await writeBranch(folder, 'malformed', commit);
  const said = [];
  for (let tries = 0; tries < 3; tries += 1) said.push((await submit('malformed', commit)).said);
  expect(said).toEqual(Array(3).fill('INCONCLUSIVE REPOSITORY_UNREACHABLE'));
});

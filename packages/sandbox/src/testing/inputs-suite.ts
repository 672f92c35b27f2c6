import { sha256Hex } from '@kervyxa/core';
import { beforeAll, describe, expect, it } from 'vitest';
import type { FakeCommand, FakeEntry } from '../fake/index.ts';
import type { SessionRequest } from '../port.ts';
import { type Bench, LIMITS, never, run, textOf, toRequest, withSession } from './harness.ts';
import type { OpenBench } from './shared-suite.ts';
import { testTree } from './trees.ts';

const LOOK = 'pwd; cat /input/a.txt /input/src/b.txt; ls -A';
const LEAVE =
  'mkdir -p deep; printf "a\\nb" > deep/r; ln -s /input/a.txt link; ln -s /input up; ls -A';
const FILL = 'head -c 9000000 /dev/zero > r; head -c 9000000 /dev/zero > s';

/** Each way to change what is at a folder, by a run; those that succeed say so. */
const toAttack = (root: string, file: string): string =>
  [
    `echo x > ${file}`,
    `echo x >> ${file}`,
    `chmod 777 ${file}`,
    `chmod 700 ${root}`,
    `touch ${root}/new`,
    `mkdir ${root}/new`,
    `rm ${file}`,
    `mv ${file} ${root}/moved`,
    `ln -s /etc ${root}/link`,
    `ln ${file} ${root}/hard`,
    `ln ${file} /tmp/hard && echo x > /tmp/hard`,
    `ln ${file} hard && echo x > hard`,
    `mknod ${root}/new p`,
    `exec 3< ${file}; echo x > /proc/self/fd/3`,
    `exec 3< ${root}; echo x > /proc/self/fd/3/new`,
    `echo x > /proc/self/root${file}`,
    `echo x > /proc/$$/root/proc/$$/root${file}`,
    `mount -o remount,bind,rw ${root}`,
    `mount -t tmpfs none ${root}`,
    `mount --bind /tmp ${root}`,
    `umount ${root}`,
    `unshare -rm true`,
    `truncate -s 0 ${file}`,
  ]
    .map((attack) => `(${attack}) 2>/dev/null && echo '${attack}'\n`)
    .join('');

const ATTACK_INPUT = `${toAttack('/input', '/input/a.txt')}${toAttack('/input/src', '/input/src/b.txt')}true`;
const ATTACK_SEEN = `${toAttack('$KERVYXA_VERIFIER_PACKAGE', '$KERVYXA_VERIFIER_PACKAGE/check.sh')}
  ${toAttack('$KERVYXA_DEPS', '$KERVYXA_DEPS/npmrc')}
  echo changed > a.txt; chmod 777 go.sh; rm -r src; ln -sf /etc link; echo > new`;

const content = (entry: FakeEntry | undefined): string =>
  entry instanceof Uint8Array ? Buffer.from(entry).toString() : String(entry ?? '');

/** Each command for a real shell, with what it does. */
const SCRIPTS: Readonly<Record<string, FakeCommand>> = {
  true: {},
  [LOOK]: ({ input, workspace }) => ({
    stdout: `/output\n${content(input.get('a.txt'))}${content(input.get('src/b.txt'))}${[...workspace.keys()].join('\n')}`,
  }),
  [LEAVE]: {
    stdout: 'deep\nlink\nup\n',
    writes: {
      'deep/r': 'a\nb',
      link: { kind: 'symbolic link' },
      up: { kind: 'symbolic link' },
    },
  },
  [FILL]: { exitCode: 1, workspaceFull: true },
  [ATTACK_INPUT]: {},
  [ATTACK_SEEN]: { writes: { 'a.txt': 'changed\n' } },
};

const TREE = testTree({
  'a.txt': 'A',
  'go.sh': { script: 'G' },
  'src/b.txt': 'B',
  'ä b/empty': { folder: true },
  link: { link: '//etc/passwd' },
});

/** By hand, from what src/input-digest.ts says: what is there, and what is in the files. */
const digestOf = (entries: readonly string[], files: Readonly<Record<string, string>>): string =>
  sha256Hex(
    [
      ...entries,
      ...Object.entries(files)
        .map(([path, text]) => `${sha256Hex(text)} *./${path}`)
        .toSorted(),
    ]
      .map((record) => `${record}\0`)
      .join(''),
  );
const TREE_DIGEST = digestOf(
  [
    'd 755 //',
    'd 755 src//',
    'd 755 ä b//',
    'd 755 ä b/empty//',
    'f 644 a.txt//',
    'f 644 src/b.txt//',
    'f 755 go.sh//',
    'l 777 link////etc/passwd',
  ],
  { 'a.txt': 'A', 'go.sh': 'G', 'src/b.txt': 'B' },
);

/** What every implementation of the port does alike with what runs may read and not change. */
export function itKeepsInputs(openBench: OpenBench): void {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openBench(SCRIPTS);
  });

  // Keeps R-SANDBOX-INPUTS.
  describe('a session of layout inputs', () => {
    it('has the tree at /input and an empty /output for each run, which is read as the run left it', () =>
      withSession(bench, { layout: 'inputs', tree: TREE }, async (session) => {
        const left = await run(session, LEAVE, {}, (staged) =>
          Promise.all(
            ['deep/r', 'link', 'up/a.txt', 'deep', 'a.txt'].map((path) =>
              staged.readFile(path, 100, never),
            ),
          ),
        );
        expect(textOf(left)).toBe('deep\nlink\nup\n');
        expect(left.looked).toEqual([
          expect.objectContaining({ kind: 'file', head: Buffer.from('a\nb'), lineCount: 2 }),
          { kind: 'not_regular', found: 'symbolic link' },
          { kind: 'not_regular', found: 'symbolic link' },
          { kind: 'not_regular', found: 'folder' },
          { kind: 'absent' },
        ]);
        expect(textOf(await run(session, LOOK))).toBe('/output\nAB');
        expect(await run(session, FILL)).toMatchObject({ exitCode: 1, workspaceFull: true });
      }));

    it('C45 writes, links, mounts and renames what is at /input: nothing there changes', () =>
      withSession(bench, { layout: 'inputs', tree: TREE }, async (session) => {
        const expected = { tree: TREE_DIGEST, package: null, dependencies: null };
        expect(await session.measure(never)).toEqual(expected);
        expect(textOf(await run(session, ATTACK_INPUT))).toBe('');
        expect(await session.measure(never)).toEqual(expected);
      }));

    it('is asked for what it has not: refused', async () => {
      const misused = { code: 'SANDBOX_MISUSED' };
      const { sandbox, image } = bench;
      const request = { image, limits: LIMITS, tree: TREE, verifierPackage: null, runsMax: 1 };
      const more: Partial<SessionRequest>[] = [
        { verifierPackage: TREE },
        { probeInputs: TREE },
        { dependencies: TREE },
        { keptPaths: ['a.txt'] },
        { additions: { treePaths: [], judge: () => 'stays' } },
      ];
      for (const each of more) {
        const opened = sandbox.openSession({ ...request, layout: 'inputs', ...each }, never);
        await expect(opened).rejects.toMatchObject(misused);
      }
      await withSession(bench, { layout: 'inputs', tree: TREE }, async (session) => {
        await expect(session.runSetup(toRequest('true'), never)).rejects.toMatchObject(misused);
        for (const access of ['probe', 'shared', 'apart'] as const) {
          const staged = session.stage(toRequest('true', { package: access }), never);
          await expect(staged).rejects.toMatchObject(misused);
        }
      });
    });
  });

  // Keeps R-SANDBOX-INPUTS.
  describe('a measurement', () => {
    it('C45 is of names, kinds, modes and contents, and set-up and run try to change them in vain', () => {
      const request = {
        tree: TREE,
        verifierPackage: testTree({ 'check.sh': { script: 'C' } }),
        dependencies: testTree({ npmrc: '' }),
      };
      const expected = {
        tree: TREE_DIGEST,
        package: digestOf(['d 755 //', 'f 755 check.sh//'], { 'check.sh': 'C' }),
        dependencies: digestOf(['d 755 //', 'f 644 npmrc//'], { npmrc: '' }),
      };
      return withSession(bench, request, async (session) => {
        expect(await session.measure(never)).toEqual(expected);
        const setup = await session.runSetup(toRequest(ATTACK_SEEN), never);
        expect([setup.exitCode, textOf(setup)]).toEqual([0, '']);
        const attacked = await run(session, ATTACK_SEEN, { package: 'shared' });
        expect([attacked.exitCode, textOf(attacked)]).toEqual([0, '']);
        expect(await Promise.all([session.measure(never), session.measure(never)])).toEqual([
          expected,
          expected,
        ]);
      });
    });

    it('is of empty folders too, and there is none of what a session has not', () =>
      withSession(bench, { dependencies: testTree({}) }, async (session) => {
        const empty = digestOf(['d 755 //'], {});
        expect(await session.measure(never)).toEqual({
          tree: empty,
          package: null,
          dependencies: empty,
        });
      }));

    it('is asked for with a signal that is aborted: rejects with its reason', () =>
      withSession(bench, {}, async (session) => {
        const signal = AbortSignal.abort(new Error('no'));
        await expect(session.measure(signal)).rejects.toThrow('no');
      }));
  });
}

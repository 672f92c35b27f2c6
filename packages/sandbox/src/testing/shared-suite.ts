import { sha256Hex } from '@kervyxa/core';
import { beforeAll, describe, expect, it } from 'vitest';
import type { FakeCommand, FakeEntry, FakeView } from '../fake/index.ts';
import type { AdditionRule, FileReading, OutputStream, StagedRun } from '../port.ts';
import {
  type Bench,
  LIMITS,
  never,
  run,
  runOnce,
  textOf,
  toRequest,
  withSession,
} from './harness.ts';
import { testTree } from './trees.ts';

/** Opens what is tested. `scripts` says of each real command what it does; the fake has nothing else to go by. */
export type OpenBench = (scripts: Readonly<Record<string, FakeCommand>>) => Promise<Bench>;

const content = (entry: FakeEntry | undefined): string =>
  entry instanceof Uint8Array ? Buffer.from(entry).toString() : String(entry ?? '');
const listing = (files: FakeView['workspace']): string =>
  [...files.keys()]
    .toSorted()
    .map((name) => `${name}\n`)
    .join('');

const MAKE_FILES =
  'mkdir -p out/deep; printf "a\\nb" > out/deep/f; ln -s /etc/passwd link; ln -s out up; mkfifo pipe';

const ADD_FILES =
  'mkdir -p made src/made named rc; for at in src made src/made named rc/x; do mkdir -p $at; echo > $at/rc; done; ln -s made up; ln -sf made a.txt; echo > named/keep';

const LOOK_AT_DEPS = 'ls $KERVYXA_DEPS >seen; ! echo x >$KERVYXA_DEPS/x && ! mkdir $KERVYXA_DEPS/y';

/** Each command for a real shell, with what it does. */
const SCRIPTS = {
  true: {},
  'echo out; echo err >&2; exit 3': { stdout: 'out\n', stderr: 'err\n', exitCode: 3 },
  'exit 125': { exitCode: 125 },
  'exit 137': { exitCode: 137 },
  'kill -TERM $$': { exitCode: 143 },
  'trap "exit 0" TERM; while :; do :; done': { hangs: 'until_timeout' },
  'sleep 300': { hangs: 'until_abort' },
  'head -c 100 /dev/zero': { stdout: Buffer.alloc(100) },
  'printf KERVYXA_METRIC=1': { stdout: 'KERVYXA_METRIC=1' },
  'cat; echo end': ({ stdin }) => ({ stdout: `${stdin}end\n` }),
  'kervyxa-run cat a.txt': ({ workspace }) => ({ stdout: content(workspace.get('a.txt')) }),
  'cat a.txt src/b.txt': ({ workspace }) => ({
    stdout: content(workspace.get('a.txt')) + content(workspace.get('src/b.txt')),
  }),
  [ADD_FILES]: {
    writes: {
      'src/rc': '\n',
      'made/rc': '\n',
      'src/made/rc': '\n',
      'named/rc': '\n',
      'rc/x/rc': '\n',
      up: { kind: 'symbolic link' },
      'a.txt': { kind: 'symbolic link' },
      'named/keep': '\n',
    },
  },
  'find . ! -type d | sort': ({ workspace }) => ({
    stdout: listing(new Map([...workspace].map(([path, entry]) => [`./${path}`, entry]))),
  }),
  'echo built > made.txt; rm a.txt': { writes: { 'made.txt': 'built\n', 'a.txt': null } },
  'echo more >> made.txt': ({ workspace }) => ({
    writes: { 'made.txt': `${content(workspace.get('made.txt'))}more\n` },
  }),
  'cat made.txt; ls': ({ workspace }) => ({
    stdout: content(workspace.get('made.txt')) + listing(workspace),
  }),
  'ls $KERVYXA_VERIFIER_PACKAGE; echo and; ls $KERVYXA_PROBE': ({
    verifierPackage,
    probeInputs,
  }) => ({ stdout: `${listing(verifierPackage)}and\n${listing(probeInputs)}` }),
  [LOOK_AT_DEPS]: ({ dependencies }) => ({
    writes: { seen: listing(dependencies) },
  }),
  'cat seen; ls $KERVYXA_DEPS': ({ workspace, dependencies }) => ({
    stdout: content(workspace.get('seen')) + listing(dependencies),
  }),
  [MAKE_FILES]: {
    writes: {
      'out/deep/f': 'a\nb',
      link: { kind: 'symbolic link' },
      up: { kind: 'symbolic link' },
      pipe: { kind: 'named pipe' },
    },
  },
} satisfies Record<string, FakeCommand>;
type Command = keyof typeof SCRIPTS;
const say = (command: Command): Command => command;

/** Makes files of several kinds in a run and reads them when it has ended. */
function readAll(bench: Bench, paths: readonly string[], bytesMax = 1_000): Promise<FileReading[]> {
  return withSession(bench, {}, async (session) => {
    const ended = await run(session, MAKE_FILES, {}, (staged: StagedRun) =>
      Promise.all(paths.map((path) => staged.readFile(path, bytesMax, never))),
    );
    return ended.looked ?? [];
  });
}

/** What every implementation of the port does alike. */
export function itBehavesLikeASandbox(openBench: OpenBench): void {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openBench(SCRIPTS);
  });

  describe('a run', () => {
    it('ends with exit status, both streams apart, their sizes and digests', async () => {
      const outcome = await runOnce(bench, say('echo out; echo err >&2; exit 3'));
      expect(outcome).toMatchObject({
        exitCode: 3,
        timedOut: false,
        outputExceeded: false,
        oomKilled: false,
        stdout: { bytesTotal: 4, sha256: sha256Hex('out\n'), head: Buffer.from('out\n') },
        stderr: { bytesTotal: 4, sha256: sha256Hex('err\n'), head: Buffer.from('err\n') },
      });
    });

    it('C11 reports an exit status that looks like trouble of the engine as its own', async () => {
      expect(await runOnce(bench, say('exit 125'))).toMatchObject({ exitCode: 125 });
    });

    it('C14 BUG-19 reports exit 137 without calling it an OOM kill or a time-out', async () => {
      expect(await runOnce(bench, say('exit 137'))).toMatchObject({
        exitCode: 137,
        oomKilled: false,
        timedOut: false,
      });
    });

    it('C08 dies of a signal that it sends to itself', async () => {
      expect(await runOnce(bench, say('kill -TERM $$'))).toMatchObject({ exitCode: 143 });
    });

    it('C09 BUG-13 BUG-21 BUG-24 catches TERM to exit 0 at its time-out, and has timed out', async () => {
      const outcome = await runOnce(bench, say('trap "exit 0" TERM; while :; do :; done'), {
        request: { timeoutMs: 300 },
      });
      expect(outcome).toMatchObject({ timedOut: true, exitCode: 137, oomKilled: false });
    });

    it('keeps within its output limit to the byte', async () => {
      const limits = { outputBytes: 100 };
      expect(await runOnce(bench, say('head -c 100 /dev/zero'), { limits })).toMatchObject({
        outputExceeded: false,
        exitCode: 0,
      });
    });

    it('writes one byte more than its output limit, and has exceeded it', async () => {
      const limits = { outputBytes: 99 };
      const outcome = await runOnce(bench, say('head -c 100 /dev/zero'), { limits });
      expect(outcome).toMatchObject({ outputExceeded: true, timedOut: false });
    });

    it('BUG-36 hands on every byte in order, a last line without a newline too', async () => {
      const seen: [OutputStream, string][] = [];
      const onOutput = (stream: OutputStream, chunk: Uint8Array): void => {
        seen.push([stream, Buffer.from(chunk).toString()]);
      };
      await runOnce(bench, say('printf KERVYXA_METRIC=1'), { request: { onOutput } });
      expect(seen).toEqual([['stdout', 'KERVYXA_METRIC=1']]);
    });

    it('has an empty stdin', async () => {
      expect(textOf(await runOnce(bench, say('cat; echo end')))).toBe('end\n');
    });

    it('finds one line on stdin, to the letter, and then its end', async () => {
      const stdinLine = String.raw`-n a\tline  "$HOME" \\ 'end' `;
      const outcome = await runOnce(bench, say('cat; echo end'), { request: { stdinLine } });
      expect(textOf(outcome)).toBe(`${stdinLine}\nend\n`);
    });

    it('that is aborted rejects with the reason of the abort', async () => {
      const abort = new AbortController();
      const reason = new Error('the operator went home');
      await withSession(bench, {}, async (session) => {
        const staged = await session.stage(toRequest(say('sleep 300')), never);
        const end = staged.release(abort.signal);
        abort.abort(reason);
        await expect(end).rejects.toBe(reason);
        await staged.dispose();
      });
    });
  });

  describe('a workspace', () => {
    const tree = testTree({ 'a.txt': 'A', 'src/b.txt': 'B' });

    it('holds the tree', async () => {
      const outcome = await withSession(bench, { tree }, (session) =>
        run(session, say('cat a.txt src/b.txt')),
      );
      expect(textOf(outcome)).toBe('AB');
    });

    it('overwrites or removes kept paths in set-up: each run finds them as the tree has them', async () => {
      const keptPaths = ['a.txt'];
      const outcome = await withSession(bench, { tree, keptPaths }, async (session) => {
        await session.runSetup(toRequest(say('echo built > made.txt; rm a.txt')), never);
        return run(session, say('cat made.txt; ls'));
      });
      const listed = textOf(outcome).replace('src/b.txt', 'src');
      expect(listed).toBe('built\na.txt\nmade.txt\nsrc\n');
    });

    it('adds files, links and folders in set-up: no run finds those that the rule refuses', async () => {
      const additions: AdditionRule = {
        treePaths: ['a.txt', 'src/b.txt'],
        judge: (path, kind) => {
          if (path === 'named') return 'inside';
          return path.endsWith('rc') || (kind === 'link' && path !== 'up') ? 'goes' : 'stays';
        },
      };
      const outcome = await withSession(bench, { tree, additions }, async (session) => {
        const setup = await session.runSetup(toRequest(say(ADD_FILES)), never);
        expect(setup).toMatchObject({ exitCode: 0 });
        return run(session, say('find . ! -type d | sort'));
      });
      expect(textOf(outcome)).toBe(
        ['./a.txt', './made/rc', './named/keep', './src/b.txt', './src/made/rc', './up', ''].join(
          '\n',
        ),
      );
    });

    it.each(['none', 'shared', 'apart'] as const)(
      'has kervyxa-run beside it, in a run of package %s',
      async (access) => {
        const outcome = await withSession(bench, { tree }, (session) =>
          run(session, say('kervyxa-run cat a.txt'), { package: access }),
        );
        expect(textOf(outcome)).toBe('A');
      },
    );

    it('BUG-6 starts each run from what the last set-up step left, whatever other runs do', async () => {
      const texts = await withSession(bench, { tree }, async (session) => {
        await session.runSetup(toRequest(say('echo built > made.txt; rm a.txt')), never);
        await session.runSetup(toRequest(say('echo more >> made.txt')), never);
        const waiting = await session.stage(toRequest(say('cat made.txt; ls')), never);
        await run(session, say('echo more >> made.txt'));
        const outcomes = [
          await waiting.release(never),
          await run(session, say('cat made.txt; ls')),
        ];
        await waiting.dispose();
        return outcomes.map((outcome) => textOf(outcome).replace('src/b.txt', 'src'));
      });
      const expected = 'built\nmore\nmade.txt\nsrc\n';
      expect(texts).toEqual([expected, expected]);
    });

    it('is untouched by a set-up that was not run', async () => {
      const texts = await withSession(bench, { tree }, async (session) => [
        textOf(await run(session, say('cat a.txt src/b.txt'))),
        textOf(await run(session, say('cat a.txt src/b.txt'))),
      ]);
      expect(texts).toEqual(['AB', 'AB']);
    });

    it.each([
      ['none', 'and\n'],
      ['probe', 'and\ninputs.json\n'],
      ['shared', 'check.sh\nand\n'],
      ['apart', 'check.sh\nand\n'],
    ] as const)('has beside it what a run of package %s may see', async (access, seen) => {
      const hidden = {
        verifierPackage: testTree({ 'check.sh': 'true' }),
        probeInputs: testTree({ 'inputs.json': '[]' }),
      };
      const look = say('ls $KERVYXA_VERIFIER_PACKAGE; echo and; ls $KERVYXA_PROBE');
      const texts = await Promise.all(
        [hidden, {}].map((request) =>
          withSession(bench, request, async (session) =>
            textOf(await run(session, look, { package: access })),
          ),
        ),
      );
      expect(texts).toEqual([seen, 'and\n']);
    });

    it('has the dependency bundle beside it for set-up and every run, as nobody can change it', async () => {
      const dependencies = testTree({ npmrc: 'offline=true', 'pip.conf': '[global]' });
      const texts = await withSession(bench, { dependencies }, async (session) => {
        const { exitCode } = await session.runSetup(toRequest(say(LOOK_AT_DEPS)), never);
        expect(exitCode).toBe(0);
        const look = say('cat seen; ls $KERVYXA_DEPS');
        const hidden = await run(session, look, { package: 'shared' });
        return [textOf(hidden), textOf(await run(session, look))];
      });
      const both = 'npmrc\npip.conf\n';
      expect(texts).toEqual([both + both, both + both]);
    });

    it('has an empty folder in place of a dependency bundle, which stays empty', async () => {
      const text = await withSession(bench, {}, async (session) => {
        const { exitCode } = await session.runSetup(toRequest(say(LOOK_AT_DEPS)), never);
        expect(exitCode).toBe(0);
        return textOf(await run(session, say('cat seen; ls $KERVYXA_DEPS')));
      });
      expect(text).toBe('');
    });
  });

  describe('a file of an ended run', () => {
    it('is read with its size, digest and lines, an unended last one counted', async () => {
      expect(await readAll(bench, ['out/deep/f'])).toEqual([
        {
          kind: 'file',
          bytesTotal: 3,
          sha256: sha256Hex('a\nb'),
          lineCount: 2,
          head: Buffer.from('a\nb'),
        },
      ]);
    });

    it('is absent, also below a file', async () => {
      expect(await readAll(bench, ['nothing', 'out/deep/f/below', 'no/folder'])).toEqual([
        { kind: 'absent' },
        { kind: 'absent' },
        { kind: 'absent' },
      ]);
    });

    it('C28 C29 BUG-39 is a link, leads through a link, is a pipe or folder, and is not read', async () => {
      expect(await readAll(bench, ['link', 'up/deep/f', 'pipe', 'out'])).toEqual([
        { kind: 'not_regular', found: 'symbolic link' },
        { kind: 'not_regular', found: 'symbolic link' },
        { kind: 'not_regular', found: 'named pipe' },
        { kind: 'not_regular', found: 'folder' },
      ]);
    });

    it('is larger than what may be read, and is not read', async () => {
      expect(await readAll(bench, ['out/deep/f'], 2)).toEqual([{ kind: 'too_large', bytesMax: 2 }]);
    });

    it.each(['/etc/passwd', '../x', 'a/../../x', './a', 'a//b', '', 'a\0b', 'x'.repeat(256)])(
      'is refused by its path %j',
      async (path) => {
        await expect(readAll(bench, [path])).rejects.toMatchObject({
          code: 'SANDBOX_REQUEST_INVALID',
        });
      },
    );
  });

  describe('a caller', () => {
    const misused = { code: 'SANDBOX_MISUSED' };

    it('releases a run twice', () =>
      withSession(bench, {}, async (session) => {
        const staged = await session.stage(toRequest(say('true')), never);
        await staged.release(never);
        await expect(staged.release(never)).rejects.toMatchObject(misused);
        await staged.dispose();
      }));

    it('reads before the run has ended, or after dispose', () =>
      withSession(bench, {}, async (session) => {
        const staged = await session.stage(toRequest(say('true')), never);
        await expect(staged.readFile('a', 1, never)).rejects.toMatchObject(misused);
        await staged.release(never);
        await staged.dispose();
        await staged.dispose();
        await expect(staged.readFile('a', 1, never)).rejects.toMatchObject(misused);
      }));

    it('disposes of a run that was never released', () =>
      withSession(bench, {}, async (session) => {
        const staged = await session.stage(toRequest(say('true')), never);
        await staged.dispose();
        await expect(staged.release(never)).rejects.toMatchObject(misused);
      }));

    it('stages more runs than announced', () =>
      withSession(bench, { runsMax: 1 }, async (session) => {
        await run(session, say('true'));
        await expect(session.stage(toRequest(say('true')), never)).rejects.toMatchObject(misused);
      }));

    it('sets up after staging, twice at once, or stages meanwhile', () =>
      withSession(bench, {}, async (session) => {
        const first = session.runSetup(toRequest(say('true')), never);
        const second = session.runSetup(toRequest('true'), never);
        const staged = session.stage(toRequest('true'), never);
        await expect(second).rejects.toMatchObject(misused);
        await expect(staged).rejects.toMatchObject(misused);
        await first;
        await run(session, say('true'));
        await expect(session.runSetup(toRequest('true'), never)).rejects.toMatchObject(misused);
      }));

    it('uses a session after closing it twice', async () => {
      const session = await withSession(bench, {}, async (open) => open);
      await session.close();
      await expect(session.stage(toRequest('true'), never)).rejects.toMatchObject(misused);
      await expect(session.runSetup(toRequest('true'), never)).rejects.toMatchObject(misused);
      await expect(session.measure(never)).rejects.toMatchObject(misused);
    });

    it('C43 names an image by tag', async () => {
      const named = bench.sandbox.resolveImage('kervyxa-runtime/node:22', never);
      await expect(named).rejects.toMatchObject({ code: 'SANDBOX_IMAGE_NOT_PINNED' });
    });

    it('names an image by its id', async () => {
      expect(await bench.sandbox.resolveImage(bench.image, never)).toBe(bench.image);
    });

    it.each([
      ['C17 gives a pids limit at which node hangs', { pidsMax: 63 }],
      ['gives no memory', { memoryBytes: 0 }],
      ['gives no CPU', { cpuCount: 0 }],
      ['C02 gives a workspace without a limit', { workspaceBytes: 0 }],
      ['gives half a byte of output', { outputBytes: 0.5 }],
    ])('%s', async (_, limits) => {
      await expect(runOnce(bench, say('true'), { limits })).rejects.toMatchObject({
        code: 'SANDBOX_REQUEST_INVALID',
      });
    });

    it.each([
      ['a command with NUL in it', toRequest('true\0')],
      ['a command that the kernel would not take', toRequest('x'.repeat(65_537))],
      ['a time-out of nothing', toRequest('true', { timeoutMs: 0 })],
      ['two lines of stdin', toRequest('true', { stdinLine: 'a\nb' })],
      ['an empty line of stdin', toRequest('true', { stdinLine: '' })],
    ])('gives %s', (_, request) =>
      withSession(bench, {}, async (session) => {
        await expect(session.stage(request, never)).rejects.toMatchObject({
          code: 'SANDBOX_REQUEST_INVALID',
        });
      }),
    );

    it('opens with a signal that is aborted already', async () => {
      const { sandbox, image } = bench;
      const signal = AbortSignal.abort(new Error('no'));
      const request = {
        image,
        limits: LIMITS,
        tree: testTree({}),
        verifierPackage: null,
        runsMax: 1,
      };
      await expect(sandbox.openSession(request, signal)).rejects.toThrow('no');
    });
  });
}

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FetchedCommit, Intake, IntakeRequest } from '../port.ts';
import { unpack, type IntakeHarness, type Scenario } from '../shared-suite.ts';

export interface CaptureHarness extends IntakeHarness {
  /** Another intake, on a cache that has nothing yet. */
  elsewhere(): Intake;
  /** Requests that servers have had so far. */
  requestCount(): number;
}

const BASE = { 'a.txt': 'one\n', 'run.sh': { content: 'exit 0\n', mode: '100755' } } as const;

const COMMITS = {
  base: { tree: BASE, message: 'The base\n' },
  fix: { tree: { ...BASE, 'a.txt': '1\n' }, parents: ['base'], message: 'Fix it\n\nBy: me\n' },
  later: { tree: { ...BASE, 'b.txt': 'b\n' }, parents: ['fix'] },
  unrelated: { tree: { ...BASE, 'a.txt': 'from nowhere\n' } },
  merged: { tree: { only: 'this\n' }, parents: ['unrelated', 'base'] },
  'link out': { tree: { ...BASE, l: { symlink: '../../etc/passwd' } }, parents: ['base'] },
} as const satisfies Scenario;

type Name = keyof typeof COMMITS;

/** How every intake hands on what it has captured, and takes it in. */
export function describeCaptures(
  name: string,
  start: (scenario: Scenario) => Promise<CaptureHarness>,
): void {
  describe(`${name}, as every intake that captures,`, () => {
    let harness: CaptureHarness;
    const { signal } = new AbortController();

    beforeAll(async () => {
      harness = await start(COMMITS);
    });

    afterAll(async () => {
      await harness.close();
    });

    const requestFor = (commit: Name, base: Name = 'base'): IntakeRequest => ({
      baseRepositoryUrl: harness.url,
      repositoryUrl: harness.url,
      baseCommit: harness.id(base),
      commit: harness.id(commit),
    });

    const fetched = async (intake: Intake, request: IntakeRequest): Promise<FetchedCommit> => {
      const outcome = await intake.fetchCommit(request, signal);
      if (outcome.kind !== 'fetched') throw new Error(`expected a commit: ${outcome.message}`);
      return outcome.source;
    };

    const baseCapture = async (base: Name = 'base'): Promise<Uint8Array[]> => {
      const opened = await harness.intake.openBase(harness.url, harness.id(base), signal);
      const pieces = await Array.fromAsync(opened.exportCapture(signal));
      await opened.close();
      return pieces;
    };

    const commitCapture = async (request: IntakeRequest): Promise<Uint8Array[]> => {
      const source = await fetched(harness.intake, request);
      const pieces = await Array.fromAsync(source.exportCapture(signal));
      await source.close();
      return pieces;
    };

    const withBase = async (base: Name = 'base'): Promise<Intake> => {
      const intake = harness.elsewhere();
      await intake.importBase(requestFor(base, base), stream(await baseCapture(base)), signal);
      return intake;
    };

    it.each([
      ['fix', 'base'],
      ['later', 'fix'],
      ['base', 'base'],
      ['base', 'fix'],
      ['unrelated', 'base'],
      ['merged', 'base'],
      ['link out', 'base'],
    ] as const)(
      'judges %s against %s elsewhere as here, without a server',
      async (commit, base) => {
        const request = requestFor(commit, base);
        const capture = await commitCapture(request);
        const intake = await withBase(base);
        const asked = harness.requestCount();
        await intake.importCommit(request, stream(capture), signal);
        const [here, there] = [
          await fetched(harness.intake, request),
          await fetched(intake, request),
        ];
        expect(await factsOf(there)).toEqual(await factsOf(here));
        expect(harness.requestCount()).toBe(asked);
      },
    );

    it('hands on what it has been handed', async () => {
      const request = requestFor('fix');
      const second = await withBase();
      await second.importCommit(request, stream(await commitCapture(request)), signal);
      const source = await fetched(second, request);
      const third = await withBase();
      await third.importCommit(request, source.exportCapture(signal), signal);
      expect(await factsOf(await fetched(third, request))).toEqual(await factsOf(source));
    });

    it('opens an imported base without a server', async () => {
      const intake = await withBase();
      const asked = harness.requestCount();
      const opened = await intake.openBase(harness.url, harness.id('base'), signal);
      expect(opened.paths).toEqual(['a.txt', 'run.sh']);
      expect(Buffer.from((await opened.readFile('a.txt', 10)) ?? []).toString()).toBe('one\n');
      expect(harness.requestCount()).toBe(asked);
      await opened.close();
    });

    it('tells what it holds, and reads no capture of that', async () => {
      const request = requestFor('fix');
      const intake = harness.elsewhere();
      const held = async (): Promise<boolean[]> => [
        await intake.holdsBase(request),
        await intake.holdsCommit(request),
      ];
      expect(await held()).toEqual([false, false]);
      await intake.importBase(request, stream(await baseCapture()), signal);
      expect(await held()).toEqual([true, false]);
      await intake.importCommit(request, stream(await commitCapture(request)), signal);
      expect(await held()).toEqual([true, true]);
      await intake.importBase(request, unreadable(), signal);
      await intake.importCommit(request, unreadable(), signal);
    });

    it('holds what it has fetched', async () => {
      const request = requestFor('fix');
      await (await fetched(harness.intake, request)).close();
      expect(await harness.intake.holdsBase(request)).toBe(true);
      expect(await harness.intake.holdsCommit(request)).toBe(true);
    });

    it.each([
      ['nothing at all', () => Buffer.alloc(0)],
      ['half of it', (bytes: Buffer) => bytes.subarray(0, bytes.length >> 1)],
      ['all but its last byte', (bytes: Buffer) => bytes.subarray(0, -1)],
      ['more than it', (bytes: Buffer) => Buffer.concat([bytes, Buffer.from('more')])],
      ['something else', () => Buffer.from('a text file\n\nof some length\n')],
      ['a changed byte', (bytes: Buffer) => withByte(bytes, bytes.length - 30)],
      ['a changed first byte', (bytes: Buffer) => withByte(bytes, 0)],
    ] as const)('is given %s: an error of ours, and nothing is kept', async (_what, damage) => {
      const request = requestFor('fix');
      const capture = damage(Buffer.concat(await commitCapture(request)));
      const intake = await withBase();
      await expect(intake.importCommit(request, stream([capture]), signal)).rejects.toMatchObject({
        code: 'INTAKE_CAPTURE_DAMAGED',
        traits: { fault: 'infra' },
      });
      expect(await intake.holdsCommit(request)).toBe(false);
      const base = damage(Buffer.concat(await baseCapture()));
      const other = harness.elsewhere();
      await expect(other.importBase(request, stream([base]), signal)).rejects.toMatchObject({
        code: 'INTAKE_CAPTURE_DAMAGED',
      });
      expect(await other.holdsBase(request)).toBe(false);
    });

    it('is given the capture of another commit: refused', async () => {
      const intake = await withBase();
      const other = stream(await commitCapture(requestFor('later')));
      await expect(intake.importCommit(requestFor('fix'), other, signal)).rejects.toMatchObject({
        code: 'INTAKE_CAPTURE_DAMAGED',
      });
      expect(await intake.holdsCommit(requestFor('later'))).toBe(false);
    });

    it('ends with the error of whatever the capture is read from, and keeps nothing', async () => {
      const request = requestFor('fix');
      const intake = await withBase();
      const [first = new Uint8Array()] = await commitCapture(request);
      const broken = async function* (): AsyncGenerator<Uint8Array> {
        yield first;
        throw new Error('the connection was lost');
      };
      await expect(intake.importCommit(request, broken(), signal)).rejects.toThrow('was lost');
      expect(await intake.holdsCommit(request)).toBe(false);
    });
  });
}

/** All that a verdict is made of. */
async function factsOf(source: FetchedCommit): Promise<Record<string, unknown>> {
  const { commit, tree, baseTree, message, isDescendant, changedFiles, treeFaults } = source;
  const hasArchive = isDescendant && treeFaults.length === 0;
  const archives = hasArchive ? [source.archive(), source.baseArchive()] : [];
  const trees = await Promise.all(archives.map(unpack));
  return { commit, tree, baseTree, message, isDescendant, changedFiles, treeFaults, trees };
}

async function* stream(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces;
}

function unreadable(): AsyncIterable<Uint8Array> {
  return {
    [Symbol.asyncIterator]: () => {
      throw new Error('expected no reading');
    },
  };
}

function withByte(bytes: Buffer, at: number): Buffer {
  const changed = Buffer.from(bytes);
  changed[at] = (changed[at] ?? 0) ^ 0xff;
  return changed;
}

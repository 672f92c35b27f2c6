import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sealTree } from '@kervyxa/core';
import type { DependencyBundle } from '@kervyxa/deps';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CommandContext } from '../context.ts';
import { watchInterrupts } from '../io/interrupts.ts';
import { fakeHost, type FakeHost } from '../testing/fake-host.ts';
import { runDepsPack, type PackBundle } from './deps-pack.ts';

// Keeps R-CLI-CODES, R-CLI-STOP.

let root = '';
let lockfile = '';
let out = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'kervyxa-deps-pack-'));
  lockfile = join(root, 'package-lock.json');
  out = join(root, 'deps.tar');
  writeFileSync(lockfile, '{"lockfileVersion":3}');
});
afterEach(() => rmSync(root, { recursive: true }));

function contextOf(host: FakeHost): CommandContext {
  return {
    host,
    interrupts: watchInterrupts(host),
    exitCode: 0,
    endsBySignal: false,
    toExitCode: () => 0,
  };
}

async function bundleOf(text: string): Promise<DependencyBundle> {
  const content = Buffer.from(text);
  const archive = await sealTree([
    { type: 'file', path: 'npmrc', executable: false, size: content.length, content },
  ]);
  const packed = { kind: 'npm', name: 'a', version: '1.0.0', integrity: 'sha512-x' } as const;
  return { sha256: archive.digest, archive, packages: [{ ...packed, sizeBytes: 3 }] };
}

const packs =
  (text: string): PackBundle =>
  () =>
    bundleOf(text);
const NEVER: PackBundle = () => Promise.reject(new Error('expected nothing to be packed'));

describe('kervyxa deps pack', () => {
  it('writes the archive, and tells its digest and the line for the contract', async () => {
    const host = fakeHost();
    await runDepsPack({ lockfile: [lockfile], out }, contextOf(host), packs('one'));
    const { sha256, archive } = await bundleOf('one');
    const bytes = Buffer.concat(await Array.fromAsync(archive.open(new AbortController().signal)));
    expect(readFileSync(out).equals(bytes)).toBe(true);
    expect(host.stdout.text()).toBe(`${out}: 1 package, ${bytes.length} bytes
sha256 ${sha256}

In the contract's environment:
  "dependencies": { "sha256": "${sha256}" }
`);
    expect(readdirSync(root).toSorted()).toEqual(['deps.tar', 'package-lock.json']);
  });

  it('prints the same as JSON', async () => {
    const host = fakeHost();
    await runDepsPack({ lockfile: [lockfile], out, json: true }, contextOf(host), packs('one'));
    const { sha256, packages } = await bundleOf('one');
    expect(JSON.parse(host.stdout.text())).toEqual({
      file: out,
      sizeBytes: readFileSync(out).length,
      entryCount: 1,
      sha256,
      packages,
    });
  });

  it('hands over every file with its name and text, in the order given', async () => {
    const requirements = join(root, 'requirements.txt');
    writeFileSync(requirements, 'six');
    const pack: PackBundle = async (request) => {
      const text = '{"lockfileVersion":3}';
      expect(request).toEqual({
        lockfiles: [
          { name: lockfile, text },
          { name: lockfile, text },
        ],
        requirements: [{ name: requirements, text: 'six' }],
      });
      return bundleOf('one');
    };
    const options = { lockfile: [lockfile, lockfile], requirements: [requirements], out };
    await runDepsPack(options, contextOf(fakeHost()), pack);
  });

  it('draws a bar on a terminal and removes it, and elsewhere writes a line and what it waits for', async () => {
    const lines: string[][] = [];
    const packIn =
      (host: FakeHost): PackBundle =>
      async (_request, { onProgress }) => {
        const waitingFor = 'a@1.0.0';
        onProgress({ packagesDone: 0, packagesTotal: 4, bytes: 0, waitingFor });
        onProgress({ packagesDone: 2, packagesTotal: 4, bytes: 3_110_000, waitingFor });
        const tickMs = host.stderr.isTerminal ? 100 : 10_000;
        host.advance(tickMs);
        host.advance(tickMs);
        lines.push(host.stderr.lines());
        return bundleOf('one');
      };
    const terminal = fakeHost({ terminal: true });
    await runDepsPack({ lockfile: [lockfile], out }, contextOf(terminal), packIn(terminal));
    expect(lines).toEqual([
      ['[############------------] 2/4 packages, 3.1 MB, waiting for a@1.0.0'],
    ]);
    expect(terminal.stderr.lines()).toEqual(['']);
    const pipe = fakeHost();
    await runDepsPack({ lockfile: [lockfile], out }, contextOf(pipe), packIn(pipe));
    expect(pipe.stderr.text()).toBe('fetching 4 packages\nwaiting for a@1.0.0\n');
  });

  it('replaces an older bundle in one step, and leaves it alone when it fails', async () => {
    writeFileSync(out, 'older');
    const failing: PackBundle = async () => {
      const { archive, ...bundle } = await bundleOf('one');
      const open = async function* (): AsyncGenerator<Uint8Array> {
        yield Buffer.from('begun');
        throw new Error('broken off');
      };
      return { ...bundle, archive: { ...archive, open } };
    };
    const run = (pack: PackBundle) =>
      runDepsPack({ lockfile: [lockfile], out }, contextOf(fakeHost()), pack);
    await expect(run(failing)).rejects.toThrow('broken off');
    expect(readFileSync(out, 'utf8')).toBe('older');
    await run(packs('one'));
    expect(readFileSync(out, 'utf8')).not.toBe('older');
    expect(readdirSync(root).toSorted()).toEqual(['deps.tar', 'package-lock.json']);
  });

  it('leaves nothing when it is stopped', async () => {
    const host = fakeHost();
    const stopped: PackBundle = async (_request, { signal }) => {
      host.raise('SIGINT');
      signal.throwIfAborted();
      return bundleOf('one');
    };
    await expect(
      runDepsPack({ lockfile: [lockfile], out }, contextOf(host), stopped),
    ).rejects.toThrow('stopped by SIGINT');
    expect(host.stderr.text()).toContain('SIGINT: removing what was begun');
    expect(readdirSync(root)).toEqual(['package-lock.json']);
  });

  it.each([
    ['no lock file at all', {}, 'CLI_USAGE_INVALID'],
    ['a lock file that is not there', { lockfile: ['/nowhere/lock.json'] }, 'CLI_FILE_UNREADABLE'],
    ['a folder as lock file', { lockfile: ['/'] }, 'CLI_FILE_UNREADABLE'],
    ['an endless lock file', { lockfile: ['/dev/zero'] }, 'CLI_FILE_UNREADABLE'],
  ])('is given %s: refused before anything is fetched', async (_what, options, code) => {
    await expect(runDepsPack({ ...options, out }, contextOf(fakeHost()), NEVER)).rejects.toThrow(
      expect.objectContaining({ code }),
    );
  });

  it.each(['/nowhere/deps.tar', '/', '/dev/null'])(
    'is to write to %s: refused before anything is fetched',
    async (place) => {
      await expect(
        runDepsPack({ lockfile: [lockfile], out: place }, contextOf(fakeHost()), NEVER),
      ).rejects.toThrow(expect.objectContaining({ code: 'CLI_OUTPUT_REFUSED' }));
    },
  );
});

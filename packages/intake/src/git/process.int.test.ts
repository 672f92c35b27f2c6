import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildRepository } from '@kervyxa/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS } from './limits.ts';
import { runGit, streamGit, type GitContext } from './process.ts';

const { signal } = new AbortController();
let root: string;
let context: GitContext;
let ids: { readonly base: string };

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'kervyxa-process-'));
  await mkdir(join(root, 'home'));
  const gitDir = join(root, 'r.git');
  ids = await buildRepository(gitDir, {
    commits: [{ name: 'base', files: { zeros: Buffer.alloc(50_000_000) } }],
  });
  context = { gitDir, home: join(root, 'home'), limits: DEFAULT_LIMITS, remote: null };
});

afterAll(async () => {
  await rm(root, { recursive: true });
});

describe('git', () => {
  it.each([
    (canary: string) => `ext::sh -c "touch ${canary}"`,
    (canary: string) => `file://${canary}`,
    (canary: string) => canary,
    () => 'git://127.0.0.1/r.git',
    () => 'ssh://127.0.0.1/r.git',
    () => '127.0.0.1:r.git',
    () => 'https://127.0.0.1/r.git',
  ])(
    'G07 is given another transport than that of the gateway: it refuses, and nothing runs',
    async (urlOf) => {
      const canary = join(root, 'canary');
      const remote = 'http://127.0.0.1:1/r';
      const argv = ['fetch', '-q', '--', urlOf(canary), 'HEAD'];
      const { exitCode, stderr } = await runGit({ ...context, remote }, argv, signal);
      expect(exitCode).toBe(128);
      expect(stderr).toContain('not allowed');
      expect(await readdir(root)).not.toContain('canary');
    },
  );

  it('G09 G32 reads no settings of the user that runs it', async () => {
    await writeFile(join(root, 'home/.gitconfig'), '[user]\n\tname = ambient\n');
    const { exitCode, stdout } = await runGit(context, ['config', 'user.name'], signal);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
  });

  it('tells exit statuses apart', async () => {
    expect(await runGit(context, ['cat-file', '-t', ids.base], signal)).toMatchObject({
      exitCode: 0,
      stdout: 'commit\n',
    });
    expect((await runGit(context, ['cat-file', '-e', 'e'.repeat(40)], signal)).exitCode).toBe(1);
    expect((await runGit(context, ['cat-file', '-t', 'nonsense'], signal)).exitCode).toBe(128);
  });

  it('G26 prints without end: what is kept has a bound', async () => {
    const { exitCode, stdout } = await runGit(
      context,
      ['cat-file', '-p', `${ids.base}:zeros`],
      signal,
    );
    expect(exitCode).toBe(0);
    expect(stdout.length).toBeLessThan(2_000_000);
  });

  it('G20 needs more memory than it may have: it dies alone', async () => {
    const limits = { ...DEFAULT_LIMITS, gitMemoryBytesMax: 40_000_000 };
    const argv = ['-c', 'core.bigFileThreshold=1g', 'cat-file', '-p', `${ids.base}:zeros`];
    expect((await runGit({ ...context, limits }, argv, signal)).exitCode).not.toBe(0);
  });

  it('takes longer than it may: it is ended', async () => {
    const limits = { ...DEFAULT_LIMITS, gitWallSecondsMax: 1 };
    const waiting = streamGit({ ...context, limits }, ['cat-file', '--batch'], signal);
    waiting.stdout.resume();
    expect(await waiting.ended).toEqual({ exitCode: null, isLimit: true });
  });

  it('is not started for a signal that was aborted before', async () => {
    const reason = new Error('too late');
    await expect(runGit(context, ['version'], AbortSignal.abort(reason))).rejects.toBe(reason);
    expect(() => streamGit(context, ['version'], AbortSignal.abort(reason))).toThrow(reason);
  });
});

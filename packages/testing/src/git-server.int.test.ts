import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildRepository, startGitServer, type GitServer } from './index.ts';

const run = promisify(execFile);
let root: string;
let server: GitServer;
let ids: Awaited<ReturnType<typeof buildExample>>;

function buildExample(folder: string) {
  return buildRepository(folder, {
    commits: [
      {
        name: 'base',
        files: {
          'a.txt': 'one\n',
          'tool.sh': { content: '#!/bin/sh\n', mode: '100755' },
          'odd "name"\n': 'x',
          'old/b.txt': 'two\n',
        },
      },
      {
        name: 'solution',
        parents: ['base'],
        rename: { old: 'new' },
        delete: ['a.txt'],
        files: { link: { symlink: 'new/b.txt' }, sub: { gitlink: '1'.repeat(40) } },
      },
      { name: 'merge', parents: ['base', 'solution'], message: 'Merge\n\nKeep ours.\n' },
    ],
    tags: { v1: 'base' },
  });
}

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'kervyxa-testing-'));
  ids = await buildExample(join(root, 'example.git'));
  server = await startGitServer({ root });
});

afterAll(async () => {
  await server.close();
  await rm(root, { recursive: true });
});

async function git(...argv: string[]): Promise<string> {
  return (await run('git', [`--git-dir=${join(root, 'example.git')}`, ...argv])).stdout;
}

describe('buildRepository', () => {
  it('gives a second build of the same recipe the same ids', async () => {
    expect(await buildExample(join(root, 'again.git'))).toEqual(ids);
    expect(new Set(Object.values(ids)).size).toBe(4);
  });

  it('applies deletions, renames, links and gitlinks to the parent tree', async () => {
    expect(
      (await git('ls-tree', '-r', '-z', ids.solution)).replaceAll(/ [a-z]+ [0-9a-f]{40}\t/g, ' '),
    ).toBe(
      '120000 link\0' +
        '100644 new/b.txt\0' +
        '100644 odd "name"\n\0' +
        '160000 sub\0' +
        '100755 tool.sh\0',
    );
  });

  it('leaves no refs but the branches and tags', async () => {
    expect((await git('for-each-ref', '--format=%(refname) %(objectname)')).split('\n')).toEqual([
      `refs/heads/base ${ids.base}`,
      `refs/heads/main ${ids.base}`,
      `refs/heads/merge ${ids.merge}`,
      `refs/heads/solution ${ids.solution}`,
      `refs/tags/v1 ${ids['tag:v1']}`,
      '',
    ]);
  });

  it('keeps the first parent tree in a merge', async () => {
    expect(await git('rev-parse', `${ids.merge}^{tree}`, `${ids.merge}^2`)).toBe(
      `${(await git('rev-parse', `${ids.base}^{tree}`)).trim()}\n${ids.solution}\n`,
    );
  });
});

describe('startGitServer', () => {
  it('serves a clone to real git', async () => {
    await run('git', ['clone', '-q', '--bare', server.url('example.git'), join(root, 'clone')]);
    const { stdout } = await run('git', ['-C', join(root, 'clone'), 'cat-file', '-t', ids.merge]);
    expect(stdout).toBe('commit\n');
  });

  it('refuses an unadvertised id in protocol version 0 only', async () => {
    const fetchParent = (): Promise<unknown> =>
      run('git', ['-C', join(root, 'empty'), 'fetch', '-q', server.url('hidden.git'), hidden.tip]);
    const hidden = await buildRepository(join(root, 'hidden.git'), {
      commits: [{ name: 'tip', files: { a: '1' } }, { name: 'shown' }],
      branches: { main: 'shown' },
    });
    await run('git', ['init', '-q', '--bare', join(root, 'empty')]);
    server.reconfigure({ protocolV0: true });
    await expect(fetchParent()).rejects.toThrow('unadvertised object');
    server.reconfigure({ protocolV0: false });
    await fetchParent();
  });
});

import { CommitShaSchema } from '@kervyxa/core';
import type { BaseTree } from '@kervyxa/intake';
import { describe, expect, it } from 'vitest';
import { loadBaseFacts } from './base-facts.ts';
import { contractInput } from './testing/sample-contract.ts';

const POINTER = 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n';

function baseOf(files: Readonly<Record<string, string>>): BaseTree {
  return {
    commit: CommitShaSchema.parse('b'.repeat(40)),
    tree: 'c'.repeat(40),
    paths: Object.keys(files),
    readFile: async (path, bytesMax) => {
      const bytes = Buffer.from(files[path] ?? '');
      return bytes.length > bytesMax ? null : bytes;
    },
    close: async () => undefined,
  };
}

describe('the facts about a base tree', () => {
  it('are its paths and the texts of the scripts that judge', async () => {
    const base = baseOf({ 'check.sh': 'sh hello.sh\n', 'hello.sh': 'echo hello\n' });
    expect(await loadBaseFacts(base, contractInput())).toEqual({
      commit: 'b'.repeat(40),
      paths: ['check.sh', 'hello.sh'],
      files: new Map([['check.sh', 'sh hello.sh\n']]),
      lfsPointers: [],
    });
  });

  it('leave out a script that is too large to be one', async () => {
    const base = baseOf({ 'check.sh': '#'.repeat(300_000) });
    expect((await loadBaseFacts(base, contractInput())).files.size).toBe(0);
  });

  it('name a Git LFS pointer where attributes anywhere in the tree ask for LFS', async () => {
    const base = baseOf({
      'a.txt': 'x',
      'assets/.gitattributes': '*.bin filter=lfs diff=lfs\n',
      'assets/x.bin': POINTER,
    });
    const { lfsPointers } = await loadBaseFacts(base, contractInput());
    expect(lfsPointers).toEqual(['assets/x.bin']);
  });

  it('take a file for itself where no attribute asks for LFS', async () => {
    const base = baseOf({ '.gitattributes': '* text\n', 'x.bin': POINTER });
    expect((await loadBaseFacts(base, contractInput())).lfsPointers).toEqual([]);
  });
});

import { Readable } from 'node:stream';
import { CommitShaSchema } from '@kervyxa/core';
import type { BaseTree } from '@kervyxa/intake';
import { describe, expect, it } from 'vitest';
import { loadBaseFacts } from './base-facts.ts';
import { contractWith, criterion } from './testing/contract.ts';

const DOCUMENT = contractWith({ criteria: [criterion('says-hello', { command: 'sh check.sh' })] });

function baseOf(files: Readonly<Record<string, string>>): BaseTree {
  return {
    commit: CommitShaSchema.parse('b'.repeat(40)),
    tree: 'c'.repeat(40),
    paths: Object.keys(files),
    links: new Map(),
    layoutProblem: null,
    lfsPointers: async () => Object.keys(files).filter((path) => path.endsWith('.psd')),
    readFile: async (path, bytesMax) => {
      const bytes = Buffer.from(files[path] ?? '');
      return bytes.length > bytesMax ? null : bytes;
    },
    exportCapture: () => Readable.from([]),
    close: async () => undefined,
  };
}

describe('the facts about a base tree', () => {
  it('are its paths and the texts of the scripts that judge', async () => {
    const base = baseOf({ 'check.sh': 'sh hello.sh\n', 'hello.sh': 'echo hello\n' });
    expect(await loadBaseFacts(base, DOCUMENT)).toEqual({
      commit: 'b'.repeat(40),
      paths: ['check.sh', 'hello.sh'],
      files: new Map([['check.sh', 'sh hello.sh\n']]),
      links: new Map(),
      layoutProblem: null,
      lfsPointers: [],
    });
  });

  it('leave out a script that is too large to be one', async () => {
    const base = baseOf({ 'check.sh': '#'.repeat(300_000) });
    expect((await loadBaseFacts(base, DOCUMENT)).files.size).toBe(0);
  });

  it('name every Git LFS pointer, and why no workspace can hold the tree', async () => {
    const base = { ...baseOf({ 'a.psd': 'x', 'b.psd': 'x' }), layoutProblem: 'it has \u2026' };
    expect(await loadBaseFacts(base, DOCUMENT)).toMatchObject({
      lfsPointers: ['a.psd', 'b.psd'],
      layoutProblem: 'it has \u2026',
    });
  });
});

import { describe, expect, it } from 'vitest';
import { fullFolder, toFiles } from '../testing/full-package.ts';
import type { FolderFiles } from './folder-view.ts';
import { findScript, isForScript } from './published-script.ts';
import { readCheckerPackage } from './read-folder.ts';
import { starterFiles } from './starter.ts';

const campaign = new Map([
  ...starterFiles('campaign'),
  ['problems/first/verifier-contract.json', contractOf('checker')],
  ['problems/first/checker.py', Buffer.from('# its own\n')],
]);

function contractOf(form: 'checker' | 'campaign'): Uint8Array {
  return starterFiles(form).get('verifier-contract.json') ?? Buffer.of();
}

function neededOf(files: FolderFiles): FolderFiles {
  return new Map([...files].filter(([path, { length: size }]) => isForScript({ path, size })));
}

describe('the script of a published package', () => {
  it.each([
    ['a package', starterFiles('checker')],
    ['a campaign that shares it', starterFiles('campaign')],
    ['a problem of a campaign that has its own', campaign],
    ['a package of several stages', toFiles(fullFolder())],
  ])('is that of the whole folder, found among few of its files: %s', (_what, files) => {
    const { package: whole } = readCheckerPackage(files, 'ab'.repeat(32));
    const scripts = [...(whole?.programs ?? [])].filter(([, { kind }]) => kind === 'script');
    expect(scripts).not.toEqual([]);
    for (const [stage, program] of scripts)
      expect(findScript(neededOf(files), stage)).toEqual('content' in program && program.content);
  });

  it('takes neither fixtures nor references nor what is too large to be a script', () => {
    const paths = [...neededOf(toFiles(fullFolder())).keys()];
    expect(paths.toSorted()).toEqual(['checker.py', 'checkers/form.py', 'verifier-contract.json']);
    expect(isForScript({ path: 'checker.py', size: 262_145 })).toBe(false);
  });

  it('is none of a stage that runs none, and none of a folder without a contract', () => {
    expect(findScript(neededOf(toFiles(fullFolder())), 'nowhere')).toBeNull();
    expect(findScript(new Map(), 'form')).toBeNull();
  });
});

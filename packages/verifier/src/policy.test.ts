import { describe, expect, it } from 'vitest';
import type { ChangedFile } from '@kervyxa/intake';
import { gradePolicy, type PolicyFacts } from './policy.ts';
import { contractWith } from './testing/contract.ts';

function change(path: string, status: ChangedFile['status'] = 'modified'): ChangedFile {
  return { path, status, baseMode: '100644', mode: '100644' };
}

function facts(changedFiles: ChangedFile[], others: Partial<PolicyFacts> = {}): PolicyFacts {
  return { isDescendant: true, changedFiles, treeFaults: [], message: 'Fix it\n', ...others };
}

const contract = contractWith({
  constraints: {
    protectedPaths: ['package.json', 'verifier/', 'protected/**'],
    maxChangedFiles: 2,
    allowedLanguages: ['javascript'],
  },
});

function codes(changedFiles: ChangedFile[], others: Partial<PolicyFacts> = {}): string[] {
  return gradePolicy(contract, facts(changedFiles, others), null).map(({ code }) => code);
}

// Keeps R-POLICY-DIFF.
describe('policy', () => {
  it('lets a change within the constraints through', () => {
    expect(codes([change('a.js'), change('README.md', 'added')])).toEqual([]);
  });

  it('edits a protected file', () => {
    expect(codes([change('package.json')])).toEqual(['PROTECTED_PATH_CHANGED']);
  });

  it('renames a protected file away: the deletion counts (D01)', () => {
    expect(codes([change('protected/verify.js', 'deleted'), change('moved.js', 'added')])).toEqual([
      'PROTECTED_PATH_CHANGED',
    ]);
  });

  it('adds a hidden file below a protected folder (D16)', () => {
    expect(codes([change('protected/.hidden/x.js', 'added')])).toEqual(['PROTECTED_PATH_CHANGED']);
  });

  it('puts a link where a protected folder would be, with nothing there at base (D09)', () => {
    expect(codes([change('verifier', 'added')])).toContain('PROTECTED_PATH_CHANGED');
    expect(codes([change('protected', 'added')])).toContain('PROTECTED_PATH_CHANGED');
  });

  it('squeezes renames under the limit: each counts twice (D02)', () => {
    const files = ['a.js', 'b.js'].flatMap((name) => [
      change(name, 'deleted'),
      change(`moved/${name}`, 'added'),
    ]);
    expect(codes(files)).toEqual(['TOO_MANY_CHANGED_FILES']);
  });

  it('brings a language that is not allowed', () => {
    expect(codes([change('x.py', 'added')])).toEqual(['LANGUAGE_NOT_ALLOWED']);
  });

  it('changes nothing', () => {
    expect(codes([])).toEqual(['EMPTY_DIFF']);
  });

  it('is not a descendant: nothing else is said of a comparison that was not made', () => {
    expect(codes([], { isDescendant: false })).toEqual(['NOT_A_DESCENDANT']);
  });

  it('breaks many rules at once: all are reported, in the published order', () => {
    expect(
      codes([change('package.json'), change('a.py'), change('b.js')], {
        treeFaults: [
          { reason: 'LFS_POINTER', path: 'b.js', message: 'a pointer' },
          { reason: 'SUBMODULE_CHANGED', path: 's', message: 'a gitlink' },
          { reason: 'UNSAFE_PATH', path: '.GIT', message: 'a git folder' },
          { reason: 'SOURCE_TOO_LARGE', path: null, message: 'too large' },
        ],
      }),
    ).toEqual([
      'UNSAFE_PATH',
      'SUBMODULE_CHANGED',
      'PROTECTED_PATH_CHANGED',
      'TOO_MANY_CHANGED_FILES',
      'LANGUAGE_NOT_ALLOWED',
      'SOURCE_TOO_LARGE',
      'LFS_POINTER',
    ]);
  });

  it('changes a file outside editablePaths', () => {
    const narrow = contractWith({ constraints: { editablePaths: ['src/**'], maxChangedFiles: 9 } });
    expect(gradePolicy(narrow, facts([change('src/a.js')]), null)).toEqual([]);
    expect(gradePolicy(narrow, facts([change('lib/a.js')]), null).map(({ code }) => code)).toEqual([
      'PROTECTED_PATH_CHANGED',
    ]);
  });

  it('shows a name that would move the cursor as escapes only', () => {
    const [reason] = gradePolicy(contract, facts([change('protected/\u001b[2J.js')]), null);
    expect(reason?.message).not.toContain('\u001b');
  });
});

describe('a claim trailer', () => {
  const claimed = contractWith({ submission: { claim: 'trailer' } });
  const message = 'Fix it\n\nWhy.\n\nSigned-off-by: A <a@b.c>\nKervyxa-Claim: tok_123\n';
  const judge = (text: string, token: string | null): string[] =>
    gradePolicy(claimed, facts([change('a.js')], { message: text }), token).map(({ code }) => code);

  it('is accepted where it carries the token of this solver', () => {
    expect(judge(message, 'tok_123')).toEqual([]);
  });

  it("submits somebody else's commit under an own token (S19)", () => {
    expect(judge(message, 'tok_other')).toEqual(['CLAIM_MISSING']);
  });

  it('counts only in the last paragraph', () => {
    expect(judge('Fix\n\nKervyxa-Claim: tok_123\n\nmore\n', 'tok_123')).toEqual(['CLAIM_MISSING']);
  });

  it('is required where no token is issued, too', () => {
    expect(judge(message, null)).toEqual([]);
    expect(judge('Fix it\n', null)).toEqual(['CLAIM_MISSING']);
  });
});

import { createFakeIntake, fakeCommitId, type FakeTree } from '@kervyxa/intake/fake';
import { describe, expect, it } from 'vitest';
import { toDiffText } from './diff-text.ts';

async function diffOf(base: FakeTree, tree: FakeTree): Promise<string> {
  const url = 'https://git.kervyxa.example/x.git';
  const [baseCommit, commit] = [fakeCommitId('base'), fakeCommitId('next')];
  const intake = createFakeIntake({
    commits: { [baseCommit]: { tree: base }, [commit]: { tree, parents: [baseCommit] } },
  });
  const asked = { baseRepositoryUrl: url, repositoryUrl: url, baseCommit, commit };
  const outcome = await intake.fetchCommit(asked, new AbortController().signal);
  if (outcome.kind !== 'fetched') throw new Error(outcome.message);
  return toDiffText(outcome.source);
}

describe('the diff that is shown', () => {
  it('is unified, with names of nothing where a file comes or goes', async () => {
    expect(await diffOf({ a: 'one\ntwo\n', b: 'b\n' }, { a: 'one\n2\n', c: 'c\n' })).toBe(
      'modified a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n' +
        'deleted b\n--- a/b\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-b\n' +
        'added c\n--- /dev/null\n+++ b/c\n@@ -0,0 +1,1 @@\n+c\n',
    );
    expect(await diffOf({ a: '1' }, { a: '1' })).toBe('');
  });

  it('names what is no text, and a mode that alone has changed', async () => {
    const base = { bin: 'x', link: { symlink: 'a' }, run: '1' };
    const tree = {
      bin: new Uint8Array([0, 1]),
      link: { symlink: 'b' },
      run: { content: '1', mode: '100755' as const },
    };
    expect(await diffOf(base, tree)).toBe(
      'modified bin\n(not a text of moderate size)\n' +
        'modified link\n(not a text of moderate size)\n' +
        'modified run, mode 100644 to 100755\n',
    );
  });

  it('M22 holds sequences that move a cursor: shown, not obeyed', async () => {
    const diff = await diffOf({ a: '' }, { a: 'x\u001b[2Jy\u202e\n' });
    expect(diff).toContain('x\\u{1b}[2Jy\\u{202e}');
    // Nothing is read of a tree with faults, as a name that no contract allows is one.
    expect(await diffOf({ a: '' }, { a: '', 'b\u001b[2J': 'z\n' })).toBe('added b\\u{1b}[2J\n');
    expect(diff).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
  });

  it('is cut at 64 KiB, and a file in which nearly all differs is only named', async () => {
    const lines = (letter: string) => `${letter}\n`.repeat(60_000);
    expect(await diffOf({ a: lines('x') }, { a: lines('y') })).toBe(
      'modified a\n(nearly everything differs)\n',
    );
    const many = Object.fromEntries(
      Array.from({ length: 100 }, (_, at) => [`f${at}`, 'long line\n'.repeat(100)]),
    );
    const cut = await diffOf({}, many);
    expect(cut.length).toBeLessThan(66_000);
    expect(cut).toMatch(/… \(cut\)$/);
  });
});

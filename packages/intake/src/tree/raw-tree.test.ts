import { rawTree, type RawTreeEntry } from '@kervyxa/testing';
import { describe, expect, it } from 'vitest';
import { rawTreeFaults } from './raw-tree.ts';

const id = 'ab'.repeat(20);
const entry = (mode: string, name: string): RawTreeEntry => ({ mode, name, id });
const faultsOf = (...entries: RawTreeEntry[]): string[] =>
  rawTreeFaults('src', rawTree(entries), null).map(({ message }) => message);

describe('the bytes of a tree', () => {
  it('are fine when git wrote them', () => {
    expect(
      faultsOf(
        entry('100644', 'a.b'),
        entry('40000', 'a'),
        entry('100755', 'a0'),
        entry('120000', 'l'),
        entry('160000', 's'),
      ),
    ).toEqual([]);
    expect(rawTreeFaults('', new Uint8Array(), null)).toEqual([]);
  });

  it('hold a name twice, so that diff and checkout see different files (D23)', () => {
    expect(faultsOf(entry('100644', 'a'), entry('40000', 'a'))).toEqual([
      'the folder src has the entry a twice',
    ]);
  });

  it('are out of order', () => {
    expect(faultsOf(entry('40000', 'a'), entry('100644', 'a.b'))).toEqual([
      'the folder src is not in git\u2019s order',
    ]);
  });

  it.each(['100664', '104755', '0100644', '040000', '644'])(
    'hold the odd mode %s (D25)',
    (mode) => {
      expect(faultsOf(entry(mode, 'a'))).toEqual([`the folder src has an entry a of mode ${mode}`]);
    },
  );

  it('hide a path in a name, or an empty folder called .git', () => {
    expect(faultsOf(entry('100644', 'a/b'))).toHaveLength(1);
    expect(faultsOf(entry('40000', '.git'))).toHaveLength(1);
    expect(faultsOf(entry('40000', '..'))).toHaveLength(1);
  });

  it('hold an odd folder and an odd mode that the base has: nobody is blamed again', () => {
    const base = rawTree([entry('100664', 'a'), entry('40000', 'b\\c')]);
    const faults = (...entries: RawTreeEntry[]): string[] =>
      rawTreeFaults('', rawTree(entries), base).map(({ message }) => message);
    expect(faults(entry('100664', 'a'), entry('40000', 'b\\c'))).toEqual([]);
    expect(faults(entry('100664', 'b'), entry('40000', 'c\\d'))).toHaveLength(2);
    expect(faults(entry('100664', 'a'), entry('100664', 'a'))).toHaveLength(1);
  });

  it.each(['100644 a', '100644 a\0short', 'no space', '\0'])('can’t be read: %j', (text) => {
    expect(rawTreeFaults('', Buffer.from(text), null)).toEqual([
      {
        reason: 'UNSAFE_PATH',
        path: '',
        message: 'the root folder is not a tree that can be read',
      },
    ]);
  });
});

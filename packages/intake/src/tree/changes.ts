import { toPrintable } from '@kervyxa/core';
import type { ChangedFile, ChangeStatus, TreeFault } from '../port.ts';
import { MODE_ABSENT, MODE_GITLINK } from './record.ts';

/** The kind of entry is the mode's first three digits: a file made executable is modified, not another kind. */
export function statusOf(baseMode: string, mode: string): ChangeStatus {
  if (baseMode === MODE_ABSENT) return 'added';
  if (mode === MODE_ABSENT) return 'deleted';
  return baseMode.slice(0, 3) === mode.slice(0, 3) ? 'modified' : 'type_changed';
}

/** Every gitlink that was added, taken away or moved: its content is somewhere else and can't be judged (G30, D06). */
export function submoduleFaults(changes: readonly ChangedFile[]): TreeFault[] {
  return changes
    .filter(({ baseMode, mode }) => baseMode === MODE_GITLINK || mode === MODE_GITLINK)
    .map(({ path }) => ({
      reason: 'SUBMODULE_CHANGED',
      path,
      message: `the submodule ${toPrintable(path, 300)} was changed`,
    }));
}

/** Larger files are no pointers: git-lfs itself reads no further. */
export const LFS_POINTER_BYTES_MAX = 1_024;

export function isLfsPointer(content: Uint8Array): boolean {
  const head = Buffer.from(content.subarray(0, 200)).toString('latin1');
  return /^version https:\/\/(?:git-lfs\.github\.com|hawser\.github\.com)\/spec\//.test(head);
}

export function lfsFault(path: string): TreeFault {
  return {
    reason: 'LFS_POINTER',
    path,
    message: `${toPrintable(path, 300)} is a Git LFS pointer; commit the file itself`,
  };
}

import { foldPath, toPrintable } from '@kervyxa/core';
import type { TreeFault } from '../port.ts';
import { createLinkResolver, type LinkEnd } from './links.ts';
import { pathProblem } from './names.ts';
import { isFileMode, MODE_GITLINK, MODE_LINK, type TreeRecord } from './record.ts';

export interface TreeSizes {
  readonly fileBytesMax: number;
  readonly treeBytesMax: number;
}

/** A tree that can be judged without reading any file but its links. */
export interface LintedTree {
  readonly records: readonly TreeRecord[];
  /** Target text by path of every link; null where the text is not UTF-8, is too long or holds a NUL. */
  readonly links: ReadonlyMap<string, string | null>;
}

/** All faults of one tree by itself: names, modes, sizes and links. Pure. */
export function lintTree(tree: LintedTree, sizes: TreeSizes): TreeFault[] {
  return [...lintEntries(tree, sizes), ...lintTwins(tree.records), ...lintLinks(tree.links)];
}

/**
 * The faults that a submission brings. What the base has already is not the solver's doing: old repositories hold case
 * twins and odd names, and an honest solver must not fail for them.
 */
export function newFaults(faults: readonly TreeFault[], base: readonly TreeFault[]): TreeFault[] {
  const known = new Set(base.map(keyOf));
  return faults.filter((fault) => !known.has(keyOf(fault)));
}

function keyOf({ reason, path, message }: TreeFault): string {
  return JSON.stringify([reason, path, message]);
}

function lintEntries({ records }: LintedTree, sizes: TreeSizes): TreeFault[] {
  const faults: TreeFault[] = [];
  let total = 0;
  for (const { path, isUtf8, mode, size } of records) {
    const shown = toPrintable(path, 300);
    total += size;
    const problem = isUtf8 ? pathProblem(path) : 'is not UTF-8';
    if (problem !== null) faults.push(unsafe(path, `the path ${shown} ${problem}`));
    if (!isFileMode(mode) && mode !== MODE_LINK && mode !== MODE_GITLINK) {
      faults.push(unsafe(path, `${shown} has the mode ${mode}`));
    }
    if (size > sizes.fileBytesMax) {
      faults.push(
        tooLarge(path, `${shown} has ${size} bytes, more than the ${sizes.fileBytesMax} allowed`),
      );
    }
  }
  if (total > sizes.treeBytesMax) {
    faults.push(tooLarge(null, `the files have more than the ${sizes.treeBytesMax} bytes allowed`));
  }
  return faults;
}

/** Two entries, or folders above entries, that are one on a file system that folds case or normalises. */
function lintTwins(records: readonly TreeRecord[]): TreeFault[] {
  const faults: TreeFault[] = [];
  const spellings = new Map<string, string>();
  const folded = new Map<string, string>([['', '']]);
  // Folders are folded once, not once for each file in them.
  const fold = (path: string): string => {
    const known = folded.get(path);
    if (known !== undefined) return known;
    const slash = path.lastIndexOf('/');
    const result = `${fold(path.slice(0, Math.max(0, slash)))}/${foldPath(path.slice(slash + 1))}`;
    folded.set(path, result);
    const other = spellings.get(result);
    if (other === undefined) spellings.set(result, path);
    else if (other !== path) {
      const [a, b] = [toPrintable(other, 300), toPrintable(path, 300)];
      faults.push(unsafe(path, `${a} and ${b} are one where letter case is not told apart`));
    }
    return result;
  };
  for (const { path } of records) fold(path);
  return faults;
}

function lintLinks(links: LintedTree['links']): TreeFault[] {
  const faults: TreeFault[] = [];
  const targets = new Map<string, string>();
  for (const [path, target] of links) {
    if (target !== null) targets.set(path, target);
    else
      faults.push(unsafe(path, `the link ${toPrintable(path, 300)} has a target that is no path`));
  }
  const resolve = createLinkResolver(targets);
  for (const [path, target] of targets) {
    const end = resolve(path);
    if (end === 'inside') continue;
    const shown = `the link ${toPrintable(path, 300)} to ${toPrintable(target, 300)}`;
    faults.push(unsafe(path, `${shown} ${WAYS[end]}`));
  }
  return faults;
}

const WAYS: Readonly<Record<Exclude<LinkEnd, 'inside'>, string>> = {
  outside: 'leads out of the tree',
  loop: 'leads round in a circle',
  too_far: 'and others of the tree take too many steps to follow',
};

function unsafe(path: string, message: string): TreeFault {
  return { reason: 'UNSAFE_PATH', path, message };
}

function tooLarge(path: string | null, message: string): TreeFault {
  return { reason: 'SOURCE_TOO_LARGE', path, message };
}

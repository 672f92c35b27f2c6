import type { ChangedFile } from '../port.ts';
import { statusOf } from './changes.ts';
import { MODE_ABSENT, type TreeRecord } from './record.ts';

/** The paths whose mode or object differs, sorted by path bytes. The same answer as git's raw comparison. */
export function compareTrees(
  base: readonly TreeRecord[],
  tree: readonly TreeRecord[],
): ChangedFile[] {
  const before = new Map(base.map((record) => [record.path, record]));
  const after = new Map(tree.map((record) => [record.path, record]));
  // Sorted last: of a hundred thousand paths a handful differ.
  const changed = [...new Set([...before.keys(), ...after.keys()])].flatMap((path) => {
    const [from, to] = [before.get(path), after.get(path)];
    if (from?.oid === to?.oid && from?.mode === to?.mode) return [];
    const [baseMode, mode] = [from?.mode ?? MODE_ABSENT, to?.mode ?? MODE_ABSENT];
    return [{ path, status: statusOf(baseMode, mode), baseMode, mode }];
  });
  return sortByPath(changed);
}

/** By the bytes of the path, as git sorts a listing. */
export function sortByPath<T extends { readonly path: string }>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, key: Buffer.from(item.path) }))
    .toSorted((a, b) => Buffer.compare(a.key, b.key))
    .map(({ item }) => item);
}

import { toPrintable } from '@kervyxa/core';
import type { TreeRecord } from './record.ts';

/** What a kernel takes; the workspace's own path and the ending NUL come on top. */
const PATH_BYTES_MAX = 4_000;
const NAME_BYTES_MAX = 255;

/**
 * Why no workspace can hold a tree exactly as it is, as a sentence; null where one can. Names that some other system
 * would refuse are fine here: old repositories hold them. Of a base this is the contract's fault, never a solver's:
 * the tree would arrive under other names, or the container's file system would refuse it at every try. Pure.
 *
 * `links` holds the target of every link by path, null for one that is no path.
 */
export function layoutProblem(
  records: readonly TreeRecord[],
  links: ReadonlyMap<string, string | null>,
): string | null {
  const paths = new Set(records.map(({ path }) => path));
  const folders = new Set<string>();
  for (const { path, isUtf8 } of records) {
    const problem = isUtf8 ? pathProblem(path, paths, folders) : 'is not UTF-8';
    if (problem !== null) return `the path ${toPrintable(path, 300)} ${problem}`;
  }
  if (paths.size < records.length) return 'it has one path twice';
  for (const [path, target] of links) {
    if (target === null) return `the link ${toPrintable(path, 300)} has a target that is no path`;
  }
  return null;
}

function pathProblem(
  path: string,
  paths: ReadonlySet<string>,
  folders: Set<string>,
): string | null {
  if (Buffer.byteLength(path) > PATH_BYTES_MAX) return `is longer than ${PATH_BYTES_MAX} bytes`;
  const slash = path.lastIndexOf('/');
  return (
    nameProblem(path.slice(slash + 1)) ??
    (slash < 0 ? null : folderProblem(path.slice(0, slash), paths, folders))
  );
}

/** Each folder is looked at once, not once for each file in it. */
function folderProblem(
  folder: string,
  paths: ReadonlySet<string>,
  folders: Set<string>,
): string | null {
  if (folders.has(folder)) return null;
  folders.add(folder);
  if (paths.has(folder)) return `has a file or link above it`;
  return pathProblem(folder, paths, folders);
}

function nameProblem(name: string): string | null {
  if (name === '' || name === '.' || name === '..') return 'has an empty, . or .. name in it';
  const isLong = Buffer.byteLength(name) > NAME_BYTES_MAX;
  return isLong ? `has a name of more than ${NAME_BYTES_MAX} bytes in it` : null;
}

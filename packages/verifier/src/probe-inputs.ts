import {
  createTarReader,
  sha256Hex,
  TREE_END_BYTES,
  type TreeArchive,
  treeHeader,
  treePadding,
} from '@kervyxa/core';

const FOLDER = 'probe/';

/**
 * What a probe gets of the hidden package: its folder `probe/`, as a tree of its own with that folder as the root.
 * Null where the package has no such folder. Nothing is held in memory: the package is read once to be measured, and
 * again whenever the tree is.
 */
export async function cutProbeInputs(
  verifierPackage: TreeArchive,
  signal: AbortSignal,
): Promise<TreeArchive | null> {
  let [entryCount, bytesTotal] = [0, 0];
  const reader = createTarReader(({ path, size }) => {
    if (!isInput(path)) return undefined;
    entryCount += 1;
    bytesTotal += size;
    return undefined;
  });
  for await (const chunk of verifierPackage.open(signal)) reader.write(Buffer.from(chunk));
  reader.end();
  if (entryCount === 0) return null;
  return {
    digest: sha256Hex(`${FOLDER} of ${verifierPackage.digest}`),
    entryCount,
    bytesTotal,
    open: (asked) => cut(verifierPackage, asked),
  };
}

function isInput(path: string): boolean {
  return path.startsWith(FOLDER) && path.length > FOLDER.length;
}

/** A package holds files and folders only, so nothing else is passed on. */
async function* cut(verifierPackage: TreeArchive, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  let pieces: Uint8Array[] = [];
  const reader = createTarReader(({ path, type, executable, size }) => {
    if (!isInput(path) || (type !== 'file' && type !== 'folder')) return undefined;
    const name = path.slice(FOLDER.length).replace(/\/$/, '');
    if (type === 'folder') {
      pieces.push(...treeHeader({ type, path: name }));
      return undefined;
    }
    // The header is made of the size alone; the content follows as it passes.
    const file = { type, path: name, executable, size, content: new Uint8Array() };
    pieces.push(...treeHeader(file));
    let left = size;
    return (piece) => {
      pieces.push(piece);
      left -= piece.length;
      if (left === 0) pieces.push(treePadding(size));
    };
  });
  for await (const chunk of verifierPackage.open(signal)) {
    reader.write(Buffer.from(chunk));
    yield* pieces;
    pieces = [];
  }
  reader.end();
  yield* pieces;
  yield new Uint8Array(TREE_END_BYTES);
}

import { readTar, type TreeArchive } from '@kervyxa/core';
import type { FolderFiles } from './folder-view.ts';

/** The files of a sealed folder, held in memory: what is packed is small. Folders have no entry of their own. */
export async function readArchiveFiles(
  archive: TreeArchive,
  signal: AbortSignal,
): Promise<FolderFiles> {
  const pieces = new Map<string, Uint8Array[]>();
  await readTar(archive.open(signal), (entry) => {
    if (entry.type !== 'file') return undefined;
    const content: Uint8Array[] = [];
    pieces.set(entry.path, content);
    return (piece) => void content.push(piece);
  });
  return new Map([...pieces].map(([path, content]) => [path, Buffer.concat(content)]));
}

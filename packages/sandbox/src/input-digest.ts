import { createHash, type Hash } from 'node:crypto';
import { readTar, type TreeArchive } from '@kervyxa/core';

/**
 * The digest of a folder, by which `measure` knows it, is SHA-256 over two lists, each sorted by its bytes. All that is
 * there, its root too, with NUL at the end of each: letter of its kind as `find` writes it, space, mode in octal digits,
 * space, path from the root, `//`, and where a link leads. Then every regular file: SHA-256 of its content, space, `*`,
 * `./` and its path. Paths are bytes, and none has `//` in it. Times and owners are in neither list.
 */
export async function digestOfTree(archive: TreeArchive, signal: AbortSignal): Promise<string> {
  const found = new Map<string, string>([['', 'd 755']]);
  const links = new Map<string, string>();
  const contents = new Map<string, Hash>();
  await readTar(archive.open(signal), ({ path, type, executable, target }) => {
    const above = path.split('/').slice(0, -1);
    for (const depth of above.keys()) found.set(above.slice(0, depth + 1).join('/'), 'd 755');
    if (type === 'folder') found.set(path, 'd 755');
    if (type === 'symlink') {
      found.set(path, 'l 777');
      links.set(path, target ?? '');
    }
    if (type !== 'file') return undefined;
    found.set(path, executable ? 'f 755' : 'f 644');
    const content = createHash('sha256');
    contents.set(path, content);
    return (piece) => content.update(piece);
  });
  const digest = createHash('sha256');
  const entries = [...found].map(([path, is]) => `${is} ${path}//${links.get(path) ?? ''}\0`);
  const files = [...contents].map(([path, hash]) => `${hash.digest('hex')} *./${path}\0`);
  for (const record of [...toSorted(entries), ...toSorted(files)]) digest.update(record);
  return digest.digest('hex');
}

function toSorted(records: readonly string[]): Buffer[] {
  return records.map((record) => Buffer.from(record)).toSorted((a, b) => Buffer.compare(a, b));
}

import { packTree, sha256Hex, type TreeArchive, type TreeEntry } from '@kervyxa/core';

/** A file's content, or what stands in its place. */
export type TestFile =
  string | { readonly script: string } | { readonly link: string } | { readonly folder: true };

/** A tree from paths and contents, as intake would give one. */
export function testTree(files: Readonly<Record<string, TestFile>>): TreeArchive {
  const entries = Object.entries(files).map(([path, file]) => toEntry(path, file));
  return {
    digest: sha256Hex(JSON.stringify(files)),
    entryCount: entries.length,
    bytesTotal: entries.reduce((sum, e) => sum + (e.type === 'file' ? e.size : 0), 0),
    open: (signal) => packTree(inOrder(entries), signal),
  };
}

async function* inOrder(entries: readonly TreeEntry[]): AsyncGenerator<TreeEntry> {
  yield* entries;
}

function toEntry(path: string, file: TestFile): TreeEntry {
  if (typeof file !== 'string' && 'link' in file) {
    return { type: 'symlink', path, target: file.link };
  }
  if (typeof file !== 'string' && 'folder' in file) return { type: 'folder', path };
  const content = Buffer.from(typeof file === 'string' ? file : file.script);
  return {
    type: 'file',
    path,
    executable: typeof file !== 'string',
    size: content.length,
    content,
  };
}

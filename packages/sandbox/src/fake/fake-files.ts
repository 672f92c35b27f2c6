import { readTar, type TreeArchive } from '@kervyxa/core';
import type { Listed } from '../additions.ts';
import { FileCapture } from '../capture.ts';
import type { AddedKind, FileReading } from '../port.ts';
import { parseWorkspacePath } from '../request.ts';

/** A file's content, or what stands in its place: `folder`, `symbolic link`, `named pipe`, … */
export type FakeEntry = string | Uint8Array | { readonly kind: string };

/** Path → entry. Folders above a file need not be named. */
export type FakeFiles = ReadonlyMap<string, FakeEntry>;

export async function unpackFakeFiles(
  archive: TreeArchive,
  signal: AbortSignal,
): Promise<Map<string, FakeEntry>> {
  const files = new Map<string, FakeEntry>();
  await readTar(archive.open(signal), ({ path, type }) => {
    if (type !== 'file') {
      files.set(path, { kind: type === 'symlink' ? 'symbolic link' : type });
      return undefined;
    }
    let content = Buffer.alloc(0);
    files.set(path, content);
    return (piece) => {
      content = Buffer.concat([content, piece]);
      files.set(path, content);
    };
  });
  return files;
}

/** As the port says for a real workspace. */
export function readFakeFile(files: FakeFiles, path: string, bytesMax: number): FileReading {
  const parts = parseWorkspacePath(path);
  for (let depth = 1; depth < parts.length; depth += 1) {
    const above = files.get(parts.slice(0, depth).join('/'));
    if (above === undefined) continue;
    if (isContent(above)) return { kind: 'absent' };
    if (above.kind !== 'folder') return { kind: 'not_regular', found: above.kind };
  }
  const entry = files.get(path);
  if (entry === undefined) {
    const isFolder = [...files.keys()].some((name) => name.startsWith(`${path}/`));
    return isFolder ? { kind: 'not_regular', found: 'folder' } : { kind: 'absent' };
  }
  if (!isContent(entry)) return { kind: 'not_regular', found: entry.kind };
  const bytes = Buffer.from(entry);
  if (bytes.length > bytesMax) return { kind: 'too_large', bytesMax };
  const capture = new FileCapture(bytesMax);
  capture.push(bytes);
  return { kind: 'file', ...capture.finish() };
}

/** What is in a folder, with names as `Additions` wants them. */
export function listFakeFolder(files: FakeFiles, folder: string): Listed[] {
  const above = folder === '' ? '' : `${Buffer.from(folder, 'latin1').toString()}/`;
  const found = new Map<string, AddedKind>();
  for (const [path, entry] of files) {
    if (!path.startsWith(above)) continue;
    const [name = '', ...below] = path.slice(above.length).split('/');
    const isFolder = below.length > 0 || (!isContent(entry) && entry.kind === 'folder');
    const isLink = !isContent(entry) && entry.kind === 'symbolic link';
    found.set(name, isFolder ? 'folder' : isLink ? 'link' : 'other');
  }
  return [...found].map(([name, kind]) => ({ name: Buffer.from(name).toString('latin1'), kind }));
}

function isContent(entry: FakeEntry): entry is string | Uint8Array {
  return typeof entry === 'string' || entry instanceof Uint8Array;
}

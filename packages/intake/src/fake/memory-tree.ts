import { packTree, sha256Hex, type TreeArchive, type TreeEntry } from '@kervyxa/core';
import type { CandidateTree, TreeFault, TreeFiles } from '../port.ts';
import type { DerivedTree, NamedTree } from '../tree/derive.ts';
import {
  isFileMode,
  MODE_EXECUTABLE,
  MODE_FILE,
  MODE_GITLINK,
  MODE_LINK,
  type TreeRecord,
} from '../tree/record.ts';

export type FakeFile =
  | string
  | Uint8Array
  | { readonly content: string | Uint8Array; readonly mode?: '100644' | '100755' }
  | { readonly symlink: string }
  | { readonly gitlink: string };

/** Path → file, the whole tree. */
export type FakeTree = Readonly<Record<string, FakeFile>>;

export interface MemoryTree extends NamedTree {
  /** By path; regular files only. */
  readonly contents: ReadonlyMap<string, Uint8Array>;
}

export function readTree(files: FakeTree): MemoryTree {
  const contents = new Map<string, Uint8Array>();
  const links = new Map<string, string>();
  const records = Object.entries(files)
    .toSorted(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    .map(([path, file]): TreeRecord => {
      const { mode, bytes } = readFile(file);
      if (mode === MODE_LINK) links.set(path, bytes.toString());
      else if (mode !== MODE_GITLINK) contents.set(path, bytes);
      const size = mode === MODE_GITLINK ? 0 : bytes.length;
      return { path, isUtf8: true, mode, size, oid: blobIdOf(bytes) };
    });
  return { id: sha256Hex(JSON.stringify(records)).slice(0, 40), records, links, contents };
}

function readFile(file: FakeFile): { mode: string; bytes: Buffer } {
  if (typeof file === 'string' || file instanceof Uint8Array) {
    return { mode: MODE_FILE, bytes: Buffer.from(file) };
  }
  if ('symlink' in file) return { mode: MODE_LINK, bytes: Buffer.from(file.symlink) };
  if ('gitlink' in file) return { mode: MODE_GITLINK, bytes: Buffer.from(file.gitlink) };
  return { mode: file.mode ?? MODE_FILE, bytes: Buffer.from(file.content) };
}

function toArchive({ id, records, links, contents }: MemoryTree): TreeArchive {
  const entries = async function* (): AsyncGenerator<TreeEntry> {
    for (const { path, mode, size } of records) {
      if (mode === MODE_GITLINK) yield { type: 'folder', path };
      else if (mode === MODE_LINK) {
        yield { type: 'symlink', path, target: links.get(path) ?? '' };
      } else {
        const content = contents.get(path) ?? new Uint8Array();
        yield { type: 'file', path, executable: mode === MODE_EXECUTABLE, size, content };
      }
    }
  };
  return {
    digest: id,
    entryCount: records.length,
    bytesTotal: [...contents.values()].reduce((sum, { length }) => sum + length, 0),
    open: (signal) => packTree(entries(), signal),
  };
}

export function toCandidate(
  { message }: { readonly message: string },
  { base, isDescendant }: { readonly base: MemoryTree; readonly isDescendant: boolean },
  tree: MemoryTree & Pick<CandidateTree, 'changedFiles' | 'treeFaults'>,
): CandidateTree {
  const { id, changedFiles, treeFaults } = tree;
  const readable =
    <T>(faults: readonly TreeFault[], make: () => T) =>
    () => {
      assertReadable(isDescendant, faults);
      return make();
    };
  return {
    tree: id,
    baseTree: base.id,
    message,
    isDescendant,
    changedFiles,
    treeFaults,
    archive: readable(treeFaults, () => toArchive(tree)),
    baseArchive: readable([], () => toArchive(base)),
    files: readable(treeFaults, () => toFiles(tree)),
    baseFiles: readable([], () => toFiles(base)),
  };
}

export function assertReadable(isDescendant: boolean, faults: readonly TreeFault[]): void {
  if (!isDescendant) throw new TypeError('a commit beside the base has no archive');
  if (faults.length > 0) throw new TypeError('a tree with faults has no archive');
}

export function blobIdOf(content: Uint8Array): string {
  return sha256Hex(content).slice(0, 40);
}

/** Contents by path of a tree made of others. */
export function contentsOf(
  { records, written }: DerivedTree,
  trees: readonly MemoryTree[],
): Map<string, Uint8Array> {
  const byId = new Map(written);
  for (const tree of trees) {
    for (const { path, oid } of tree.records) {
      const content = tree.contents.get(path);
      if (content !== undefined) byId.set(oid, content);
    }
  }
  return new Map(
    records.flatMap(({ path, mode, oid }) => {
      const content = byId.get(oid);
      return content === undefined || !isFileMode(mode) ? [] : [[path, content]];
    }),
  );
}

export function toFiles({ records, contents }: MemoryTree): TreeFiles {
  return {
    paths: records.map(({ path }) => path),
    readFile: async (path, bytesMax) => {
      const content = contents.get(path);
      return content === undefined || content.length > bytesMax ? null : content;
    },
  };
}

import { sha256Hex } from '@kervyxa/core';
import { CONTRACT_FILE } from './file-names.ts';

/** Paths of regular files, with slashes, and their bytes. */
export type FolderFiles = ReadonlyMap<string, Uint8Array>;

export interface FoundFile {
  readonly path: string;
  readonly content: Uint8Array;
}

/** One problem's part of a folder: its own files first, then those that a campaign shares. */
export interface FolderView {
  readonly files: FolderFiles;
  /** Of the problem: empty, or ending with a slash. */
  readonly own: string;
  /** Of what is shared; equal to `own` outside a campaign. */
  readonly shared: string;
}

/** The file of this name, own or shared. */
export function findFile(view: FolderView, name: string): FoundFile | null {
  for (const folder of new Set([view.own, view.shared])) {
    const content = view.files.get(`${folder}${name}`);
    if (content !== undefined) return { path: `${folder}${name}`, content };
  }
  return null;
}

const hashes = new WeakMap<Uint8Array, string>();

/** `sha256:…` of a file that is never written to; many fixtures may name one that is large. */
export function contentHashOf(content: Uint8Array): string {
  const hash = hashes.get(content) ?? `sha256:${sha256Hex(content)}`;
  hashes.set(content, hash);
  return hash;
}

/** The folder from which a contract names its scripts; empty, or ending with a slash. */
export function contractFolderOf(view: FolderView): string {
  return findFile(view, CONTRACT_FILE)?.path.slice(0, -CONTRACT_FILE.length) ?? view.own;
}

/** A file that a fixture names: under `fixtures/`, own or shared, or the problem's own under `reference/`. */
export function findFixtureFile(view: FolderView, filename: string): FoundFile | null {
  return findFile(view, `fixtures/${filename}`) ?? findFile(view, `reference/${filename}`);
}

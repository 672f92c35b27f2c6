import { lstatSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isAppError, toPrintable } from '@kervyxa/core';
import { cliError } from '../errors.ts';

/** What a command leaves in a folder of its own. */
export interface OwnFolderKind {
  /** `evidence` or `report`: the option's name and the word for people. */
  readonly name: string;
  readonly marker: string;
  readonly markerText: string;
  readonly files: readonly string[];
  /** Folders with nothing but logs in them. */
  readonly logFolders: readonly string[];
}

/**
 * Makes the folder, or empties one that an earlier run left, writes the marker and makes the log folders; answers its
 * path. Throws CLI_EVIDENCE_FOLDER_REFUSED, CLI_EVIDENCE_UNWRITABLE.
 */
export function openOwnFolder(folder: string, kind: OwnFolderKind): string {
  // Without a trailing slash, which would have lstat look through a link.
  const path = resolve(folder);
  writingTo(path, kind, () => {
    makeFolder(path);
    emptyOwnFolder(path, kind);
    writeFileSync(join(path, kind.marker), kind.markerText, { flag: 'wx' });
    for (const name of kind.logFolders) mkdirSync(join(path, name));
  });
  return path;
}

/** Writes; every file is to be created anew (`wx`), never through a link. Throws CLI_EVIDENCE_UNWRITABLE. */
export function writingTo(path: string, kind: OwnFolderKind, write: () => void): void {
  try {
    write();
  } catch (cause) {
    if (isAppError(cause)) throw cause;
    throw unwritable(path, kind, cause);
  }
}

/** CLI_EVIDENCE_UNWRITABLE, as an error. */
export function unwritable(
  path: string,
  { name }: Pick<OwnFolderKind, 'name'>,
  cause: unknown,
): Error {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
  return cliError('CLI_EVIDENCE_UNWRITABLE', {
    message: `expected to write the ${name} to ${toPrintable(path)}, got ${toPrintable(code)}`,
    fix: `Look at its permissions and the free space there, or give --${name} another folder.`,
    cause,
  });
}

/** Not `mkdir` with `recursive`: where a parent is there and takes no folder, as /proc, Node.js tries for ever. */
export function makeFolder(path: string): void {
  if (tryMakeFolder(path) || path === dirname(path)) return;
  makeFolder(dirname(path));
  mkdirSync(path);
}

/** Whether something is at the path now: a new folder, or what was there. */
function tryMakeFolder(path: string): boolean {
  try {
    mkdirSync(path);
    return true;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null;
    if (code === 'EEXIST') return true;
    if (code === 'ENOENT') return false;
    throw error;
  }
}

/** Removes what an earlier run left, after it has seen that there is nothing else. */
function emptyOwnFolder(path: string, kind: OwnFolderKind): void {
  const found = lstatSync(path);
  if (found.isSymbolicLink()) throw refuse(path, kind, 'a link');
  if (!found.isDirectory()) throw refuse(path, kind, 'a file');
  const names = readdirSync(path);
  if (names.length === 0) return;
  if (!names.includes(kind.marker))
    throw refuse(path, kind, 'files that are not from an earlier run');
  const foreign = names.find((name) => !isOwnEntry(path, name, kind));
  if (foreign !== undefined)
    throw refuse(path, kind, `a foreign entry ${toPrintable(foreign, 100)}`);
  for (const name of names) rmSync(join(path, name), { recursive: true });
}

function isOwnEntry(path: string, name: string, kind: OwnFolderKind): boolean {
  const entry = join(path, name);
  if (name === kind.marker || kind.files.includes(name)) return lstatSync(entry).isFile();
  return (
    kind.logFolders.includes(name) &&
    lstatSync(entry).isDirectory() &&
    readdirSync(entry, { withFileTypes: true }).every(
      (log) => log.isFile() && log.name.endsWith('.log'),
    )
  );
}

function refuse(path: string, { name }: OwnFolderKind, found: string) {
  return cliError('CLI_EVIDENCE_FOLDER_REFUSED', {
    message: `expected a new or empty folder for the ${name} at ${toPrintable(path)}, got ${found}`,
    fix: `Give --${name} a folder that does not exist yet, or one that holds an earlier run only.`,
  });
}

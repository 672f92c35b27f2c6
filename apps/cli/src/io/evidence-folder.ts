import { lstatSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Contract } from '@kervyxa/contract';
import { canonicalJson, isAppError, toPrintable } from '@kervyxa/core';
import type { VerificationEvent, VerificationResult } from '@kervyxa/verifier';
import { cliError } from '../errors.ts';
import { toJsonText } from '../present/json.ts';
import { StepLogs } from './step-logs.ts';

const MARKER = '.kervyxa-evidence';
const MARKER_TEXT = 'kervyxa verify --evidence empties this folder before each run.\n';
const LOG_FOLDERS: readonly string[] = ['setup', 'criteria'];
const OWN_FILES: readonly string[] = [MARKER, 'contract.json', 'result.json'];

/**
 * What a run leaves for people: `contract.json` in canonical form, so that its SHA-256 is the contract digest; a log
 * of each stream of each step, written while it comes; and `result.json` last, so that a folder without it is a run
 * that was stopped.
 */
export interface EvidenceFolder {
  /** Keeps output. Never throws: a full disk must not end the run, and `finish` tells of it. */
  onEvent(event: VerificationEvent): void;
  /** Throws CLI_EVIDENCE_UNWRITABLE where anything of the run could not be written. */
  finish(result: VerificationResult): void;
}

/**
 * Makes the folder, or empties one that an earlier run left. Every file is created anew (O_EXCL), so nothing is ever
 * written through a link or over a file of somebody else's.
 *
 * Throws CLI_EVIDENCE_FOLDER_REFUSED, CLI_EVIDENCE_UNWRITABLE.
 */
export function openEvidenceFolder(folder: string, contract: Contract): EvidenceFolder {
  // Without a trailing slash, which would have lstat look through a link.
  const path = resolve(folder);
  const logs = new StepLogs(path);
  writing(path, () => {
    makeFolder(path);
    emptyOwnFolder(path);
    writeFileSync(join(path, MARKER), MARKER_TEXT, { flag: 'wx' });
    writeFileSync(join(path, 'contract.json'), canonicalJson(contract), { flag: 'wx' });
    for (const name of LOG_FOLDERS) mkdirSync(join(path, name));
  });
  return {
    onEvent: (event) => {
      if (event.kind === 'output') logs.append(event);
    },
    finish: (result) =>
      writing(path, () => {
        logs.close();
        writeFileSync(join(path, 'result.json'), toJsonText(result), { flag: 'wx' });
      }),
  };
}

/** Not `mkdir` with `recursive`: where a parent is there and takes no folder, as /proc, Node.js tries for ever. */
function makeFolder(path: string): void {
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
function emptyOwnFolder(path: string): void {
  const found = lstatSync(path);
  if (found.isSymbolicLink()) throw refuse(path, 'a link');
  if (!found.isDirectory()) throw refuse(path, 'a file');
  const names = readdirSync(path);
  if (names.length === 0) return;
  if (!names.includes(MARKER)) throw refuse(path, 'files that are not from an earlier run');
  const foreign = names.find((name) => !isOwnEntry(path, name));
  if (foreign !== undefined) throw refuse(path, `a foreign entry ${toPrintable(foreign, 100)}`);
  for (const name of names) rmSync(join(path, name), { recursive: true });
}

function isOwnEntry(path: string, name: string): boolean {
  const entry = join(path, name);
  if (OWN_FILES.includes(name)) return lstatSync(entry).isFile();
  return (
    LOG_FOLDERS.includes(name) &&
    lstatSync(entry).isDirectory() &&
    readdirSync(entry, { withFileTypes: true }).every(
      (log) => log.isFile() && log.name.endsWith('.log'),
    )
  );
}

function refuse(path: string, found: string) {
  return cliError('CLI_EVIDENCE_FOLDER_REFUSED', {
    message: `expected a new or empty folder for the evidence at ${toPrintable(path)}, got ${found}`,
    fix: 'Give --evidence a folder that does not exist yet, or one that holds an earlier run only.',
  });
}

function writing(path: string, write: () => void): void {
  try {
    write();
  } catch (cause) {
    if (isAppError(cause)) throw cause;
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
    throw cliError('CLI_EVIDENCE_UNWRITABLE', {
      message: `expected to write the evidence to ${toPrintable(path)}, got ${toPrintable(code)}`,
      fix: 'Look at its permissions and the free space there, or give --evidence another folder.',
      cause,
    });
  }
}

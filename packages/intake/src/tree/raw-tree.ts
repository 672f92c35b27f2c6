import { isUtf8 } from 'node:buffer';
import { toPrintable } from '@kervyxa/core';
import type { TreeFault } from '../port.ts';
import { nameProblem } from './names.ts';

/** The modes as git writes them in a tree object; `40000` has no leading zero there. */
const CANONICAL_MODES = new Set(['100644', '100755', '120000', '160000', '40000']);

/**
 * Checks the bytes of one tree object strictly: what git's own listing hides by putting it right or taking the first
 * of two (THREATS D23, D25). `folder` is its path, '' for the root. Names are checked elsewhere, by whole path, but
 * for those that a listing would split or end early.
 *
 * `baseBytes` is the folder as the base has it, null where it has none: an odd mode or folder name that stands there
 * already is not the submission's doing.
 */
export function rawTreeFaults(
  folder: string,
  bytes: Uint8Array,
  baseBytes: Uint8Array | null,
): TreeFault[] {
  const faults: TreeFault[] = [];
  const shownFolder = folder === '' ? 'the root folder' : `the folder ${toPrintable(folder, 300)}`;
  const complain = (what: string): void => {
    faults.push({ reason: 'UNSAFE_PATH', path: folder, message: `${shownFolder} ${what}` });
  };
  const inBase = new Set(baseBytes === null ? [] : readEntries(baseBytes).entries.map(keyOf));
  const { entries, isWhole } = readEntries(bytes);
  const names = new Set<string>();
  let previous: Buffer | undefined;
  for (const entry of entries) {
    const { mode, name } = entry;
    const isFolder = /^0*40000$/.test(mode);
    const key = name.toString('latin1');
    const shown = toPrintable(isUtf8(name) ? name.toString() : key, 300);
    const isKnown = inBase.has(keyOf(entry));
    if (!CANONICAL_MODES.has(mode) && !isKnown)
      complain(`has an entry ${shown} of mode ${toPrintable(mode, 20)}`);
    if (name.includes(0x2f)) complain(`has an entry ${shown} with a slash in its name`);
    // An empty folder is in no listing, so its name is seen only here.
    const problem = isFolder && !isKnown ? nameProblem(name.toString()) : null;
    if (problem !== null) complain(`has a folder ${shown} that ${problem}`);
    if (names.has(key)) complain(`has the entry ${shown} twice`);
    names.add(key);
    // Git orders folders as if their names ended with a slash.
    const sortKey = isFolder ? Buffer.concat([name, SLASH]) : name;
    if (previous !== undefined && previous.compare(sortKey) > 0)
      complain('is not in git\u2019s order');
    previous = sortKey;
  }
  if (!isWhole) complain('is not a tree that can be read');
  return faults;
}

interface RawEntry {
  readonly mode: string;
  readonly name: Buffer;
}

function keyOf({ mode, name }: RawEntry): string {
  return `${mode} ${name.toString('latin1')}`;
}

/** `<mode> <name>\0<20 bytes of id>`, one after the other; as far as they go. */
function readEntries(bytes: Uint8Array): { entries: RawEntry[]; isWhole: boolean } {
  const raw = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const entries: RawEntry[] = [];
  for (let at = 0; at < raw.length;) {
    const space = raw.indexOf(0x20, at);
    const end = raw.indexOf(0, space);
    if (space < 0 || end < 0 || end + 21 > raw.length) return { entries, isWhole: false };
    entries.push({ mode: raw.toString('latin1', at, space), name: raw.subarray(space + 1, end) });
    at = end + 21;
  }
  return { entries, isWhole: true };
}

const SLASH = Buffer.from('/');

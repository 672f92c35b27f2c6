import { isUtf8 } from 'node:buffer';
import { toPrintable } from '@kervyxa/core';
import type { CandidateTree, ChangedFile, TreeFiles } from '@kervyxa/intake';
import { formatPatch, structuredPatch } from 'diff';
import { toPrintableLines, withinLength } from './evidence.ts';

const DIFF_LENGTH_MAX = 65_536;
const FILE_BYTES_MAX = 262_144;
/** Differences that are looked for in one file: the time grows with their square. */
const EDITS_MAX = 1_000;
const CONTEXT_LINES = 3;

/** A tree's unified diff against its base, printable and at most 64 KiB; empty where there is no difference. */
export async function toDiffText(candidate: CandidateTree): Promise<string> {
  let text = '';
  for (const file of candidate.changedFiles) {
    text += await toFileDiff(candidate, file);
    if (text.length > DIFF_LENGTH_MAX) break;
  }
  return withinLength(text, DIFF_LENGTH_MAX);
}

async function toFileDiff(candidate: CandidateTree, file: ChangedFile): Promise<string> {
  const { status, baseMode, mode } = file;
  const path = toPrintable(file.path, 300);
  const modes = status === 'modified' && baseMode !== mode ? `, mode ${baseMode} to ${mode}` : '';
  const head = `${status} ${path}${modes}\n`;
  // Of a tree with faults nothing is read: some entry of it is none that can be.
  if (candidate.treeFaults.length > 0) return head;
  const [before, after] = await Promise.all([
    readSide(candidate.baseFiles(), file.path, baseMode),
    readSide(candidate.files(), file.path, mode),
  ]);
  if (before === null || after === null) return `${head}(not a text of moderate size)\n`;
  const names = [
    status === 'added' ? '/dev/null' : `a/${path}`,
    status === 'deleted' ? '/dev/null' : `b/${path}`,
  ] as const;
  const patch = structuredPatch(...names, before, after, undefined, undefined, {
    context: CONTEXT_LINES,
    maxEditLength: EDITS_MAX,
  });
  if (patch === undefined) return `${head}(nearly everything differs)\n`;
  const headers = { includeIndex: false, includeUnderline: false, includeFileHeaders: true };
  return toPrintableLines(head + (patch.hunks.length === 0 ? '' : formatPatch(patch, headers)));
}

/** Null for what is no text: links, large and binary files. */
async function readSide(files: TreeFiles, path: string, mode: string): Promise<string | null> {
  if (mode === '000000') return '';
  const bytes = await files.readFile(path, FILE_BYTES_MAX);
  if (bytes === null || bytes.includes(0) || !isUtf8(bytes)) return null;
  return Buffer.from(bytes).toString('utf8');
}

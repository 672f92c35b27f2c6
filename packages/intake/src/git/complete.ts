import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CommitSha } from '@kervyxa/core';
import type { Capture, CaptureFailure } from './capture.ts';
import { COMMIT_BYTES_MAX } from './commit-object.ts';
import { describeObject } from './objects.ts';
import { runGit, type GitContext } from './process.ts';
import { COMMIT_REF } from './store.ts';

/** Null where the commit is there and the store's ref names it. */
export async function checkComplete(
  context: GitContext,
  commit: CommitSha,
  signal: AbortSignal,
): Promise<Capture | null> {
  const local = { ...context, remote: null };
  const found = await describeObject(local, commit, signal);
  if (found === null) return failed('not_found', `the repository has no commit ${commit}`);
  if (found.type !== 'commit') {
    return failed('not_a_commit', await describeOther(local, commit, found.type, signal));
  }
  if (found.size > COMMIT_BYTES_MAX) {
    return failed('too_large', `the commit itself has more than ${COMMIT_BYTES_MAX} bytes`);
  }
  // Git ends well and sets no ref when the history is cut off on the other side; merge-base would answer no then.
  if ((await readRef(context.gitDir)) !== commit || (await isShallow(context.gitDir))) {
    return INCOMPLETE;
  }
  return null;
}

async function readRef(gitDir: string): Promise<string | null> {
  const path = join(gitDir, COMMIT_REF);
  return readFile(path, 'utf8').then(
    (text) => text.trim(),
    () => null,
  );
}

async function isShallow(gitDir: string): Promise<boolean> {
  return (await readdir(gitDir)).includes('shallow');
}

/** What to tell somebody who gave the id of a tag, tree or blob (THREATS G13). */
async function describeOther(
  context: GitContext,
  id: CommitSha,
  type: string,
  signal: AbortSignal,
): Promise<string> {
  const peeled = await runGit(context, ['rev-parse', '--verify', '-q', `${id}^{commit}`], signal);
  const named = `expected the id of a commit, got that of a ${type}`;
  const found = /^[0-9a-f]{40}$/.exec(peeled.stdout.trim());
  return found === null ? named : `${named}; peel it: ${found[0]}`;
}

export const INCOMPLETE = failed(
  'incomplete',
  'the repository is shallow: it lacks part of the history of the commit',
);

export function failed(why: CaptureFailure, message: string): Capture & { kind: 'failed' } {
  return { kind: 'failed', why, message };
}

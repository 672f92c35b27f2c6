import type { GitContext } from './process.ts';
import { collect, readObjects } from './objects.ts';

export interface CommitFacts {
  /** 40 hex digits. */
  readonly tree: string;
  /** As UTF-8, bad bytes replaced. */
  readonly message: string;
}

/** Git reads commits into memory whole, so a larger one is never captured. */
export const COMMIT_BYTES_MAX = 1_048_576;

/** Tree and message of commits, in the order asked; null for an object that is no commit of a bearable size. */
export async function readCommits(
  context: GitContext,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<(CommitFacts | null)[]> {
  const found: (CommitFacts | null)[] = [];
  for await (const object of readObjects(context, ids, signal)) {
    const content = await collect(object, COMMIT_BYTES_MAX);
    found.push(object.type === 'commit' && content !== null ? parseCommit(content) : null);
  }
  return found;
}

/** The first line names the tree; the message follows the first empty line. */
function parseCommit(content: Uint8Array): CommitFacts | null {
  const text = Buffer.from(content).toString('utf8');
  const [, tree] = /^tree ([0-9a-f]{40})\n/.exec(text) ?? [];
  if (tree === undefined) return null;
  const blank = text.indexOf('\n\n');
  return { tree, message: blank < 0 ? '' : text.slice(blank + 2) };
}

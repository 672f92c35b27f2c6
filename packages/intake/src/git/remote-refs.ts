import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { readGit, type GitContext } from './process.ts';

/** Each id is an argument of the git that fetches it. Branches come before tags. */
const TIPS_MAX = 10_000;

/**
 * Ids of what the branches and tags on the other side point to, each once, as many as are allowed; null where the
 * other side does not list them. Rejects when aborted, and with INTAKE_GIT_UNAVAILABLE.
 */
export async function listTips(
  context: GitContext,
  signal: AbortSignal,
): Promise<readonly string[] | null> {
  const argv = ['ls-remote', '-q', '--heads', '--tags', '--refs', '--', context.remote ?? ''];
  const { value, end } = await readGit(context, argv, signal, readTips);
  return value.isFull || end.exitCode === 0 ? [...value.tips] : null;
}

async function readTips(stdout: Readable): Promise<{ tips: Set<string>; isFull: boolean }> {
  const tips = new Set<string>();
  for await (const line of createInterface(stdout)) {
    const [, id] = /^([0-9a-f]{40})\trefs\//.exec(line) ?? [];
    if (id !== undefined) tips.add(id);
    if (tips.size === TIPS_MAX) return { tips, isFull: true };
  }
  return { tips, isFull: false };
}

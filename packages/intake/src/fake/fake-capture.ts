import { deserialize, serialize } from 'node:v8';
import { sha256Hex } from '@kervyxa/core';
import { createIntakeError } from '../errors.ts';
import type { FakeCommit } from './fake-intake.ts';

type Commits = Readonly<Record<string, FakeCommit>>;

const DIGEST_CHARACTERS = 64;

/** A commit with all of its history: the digest of the rest in hex, then its id and the commits in Node's own form. */
export async function* writeCapture(
  commits: Commits,
  commit: string,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const reached: Record<string, FakeCommit> = {};
  for (let pending = [commit]; pending.length > 0;) {
    const found = pending.flatMap((id) => Object.entries(commits).filter(([each]) => each === id));
    Object.assign(reached, Object.fromEntries(found));
    pending = found.flatMap(([, { parents = [] }]) => parents).filter((id) => !(id in reached));
  }
  const bytes = serialize({ commit, reached });
  signal.throwIfAborted();
  yield Buffer.from(sha256Hex(bytes));
  yield bytes;
}

/** Throws INTAKE_CAPTURE_DAMAGED for anything but the capture of this commit. */
export async function readCapture(
  commit: string,
  pieces: AsyncIterable<Uint8Array>,
): Promise<Commits> {
  const bytes = Buffer.concat(await Array.fromAsync(pieces));
  const content = bytes.subarray(DIGEST_CHARACTERS);
  if (bytes.toString('latin1', 0, DIGEST_CHARACTERS) === sha256Hex(content)) {
    const read: { commit: string; reached: Commits } = deserialize(content);
    if (read.commit === commit) return read.reached;
  }
  throw createIntakeError('INTAKE_CAPTURE_DAMAGED', {
    message: `expected the whole capture of ${commit}, but it is not`,
  });
}

import type { CommitSha } from '@kervyxa/core';
import { COMMIT_REF } from './store.ts';

/** What a capture holds: a commit, and, unless null, the commit whose history the reader must have. */
export interface BundleHeader {
  readonly commit: CommitSha;
  readonly base: CommitSha | null;
}

/** The header is of known lines; what has no end by then is none. */
const HEADER_BYTES_MAX = 512;
const FIRST_LINE = '# v2 git bundle\n';
const END = '\n\n';

/** A capture is a git bundle of version 2, so that anybody's git can open it: this header, then a pack. */
export function writeBundleHeader({ commit, base }: BundleHeader): Uint8Array {
  const needs = base === null ? '' : `-${base}\n`;
  return Buffer.from(`${FIRST_LINE}${needs}${commit} ${COMMIT_REF}\n\n`);
}

/**
 * Splits the header off a bundle. `packs` are the pieces after it. Null in the place of the header where it is not
 * one that `writeBundleHeader` makes for this commit, on this base or on none.
 */
export async function splitBundle(
  pieces: AsyncIterator<Uint8Array>,
  expected: { readonly commit: CommitSha; readonly base: CommitSha | null },
): Promise<{ readonly header: BundleHeader | null; readonly rest: Uint8Array }> {
  let held: Buffer = Buffer.alloc(0);
  let end = -1;
  while (end < 0 && held.length < HEADER_BYTES_MAX) {
    const next = await pieces.next();
    if (next.done === true) break;
    held = Buffer.concat([held, next.value]);
    end = held.subarray(0, HEADER_BYTES_MAX).indexOf(END);
  }
  const bytes = held.subarray(0, end + END.length);
  const rest = held.subarray(bytes.length);
  const candidates = [{ commit: expected.commit, base: null }, expected];
  const header = candidates.find((each) => bytes.equals(writeBundleHeader(each))) ?? null;
  return { header: end < 0 ? null : header, rest };
}
